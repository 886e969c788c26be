/** Reads documents in processes of their own, one at a time: what breaks a reader costs that document, and no stream. */
import { readFileSync } from "node:fs";
import type { ReadDocument } from "../../../domain/knowledge.ts";
import { createKeyedQueue } from "../../../lib/keyed-queue.ts";
import type { Log } from "../../../lib/log.ts";
import { ownCommand } from "../../../lib/own-command.ts";
import { Slices } from "../../../lib/pause.ts";
import { PiecedText } from "../../../lib/pieced-text.ts";
import { type FailureReason, isFailureReason, ReadingFailure } from "./failure.ts";
import type { DocumentKind } from "./kind.ts";
import { hasWords } from "./plain-text.ts";
import { pieceLength } from "./report.ts";

export interface Document {
  /** In one, or in pieces: to join a large upload would hold the event loop. */
  readonly bytes: Uint8Array | readonly Uint8Array[];
  readonly kind: DocumentKind;
  /** What its source declares, such as the `charset` of a content type. */
  readonly charset?: string | null;
}

export interface DocumentReader {
  /**
   * Rejects with `ReadingFailure` where the document is at fault, and with the signal's reason, or that of `close`,
   * where it was called off. What it resolves with has words. Calls wait for one another, in their order; a deadline
   * runs only while a document is read.
   */
  read(document: Document, signal?: AbortSignal): Promise<ReadDocument>;
  /** Ends what is being read, and refuses what waits. Resolves once no process is left. */
  close(): Promise<void>;
}

export interface ReadingOptions {
  /** Starts this program. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** Of all reports, in UTF-8. */
  readonly outputBytes: number;
}

const defaults: ReadingOptions = {
  command: ownCommand(),
  timeoutMs: 30_000,
  memoryBytes: 512 * 1024 * 1024,
  outputBytes: 32 * 1024 * 1024,
};
const watchEveryMs = 100;
/** What is handed to the pipe in one write. */
const sliceBytes = 256 * 1024;

export function openDocumentReader(log: Pick<Log, "warn">, own: Partial<ReadingOptions> = {}): DocumentReader {
  const options = { ...defaults, ...own };
  const queue = createKeyedQueue({ maxWaiting: Number.POSITIVE_INFINITY });
  const closing = new AbortController();
  return {
    async read(document, signal) {
      const stop = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const release = await queue.enter("", stop);
      try {
        const { isConfined: _, ...read } = await runReader(document, options, stop);
        return read;
      } catch (error) {
        // Only how it ended: nothing of the document.
        if (error instanceof ReadingFailure) log.warn("document not read", { kind: document.kind, why: error.reason });
        throw error;
      } finally {
        release?.();
      }
    },
    async close() {
      closing.abort(new Error("the server is stopping"));
      (await queue.enter(""))?.();
    },
  };
}

/** Whether the kernel takes network and files from the processes that read. */
export async function findConfinement(signal: AbortSignal): Promise<boolean> {
  const document: Document = { kind: "text", bytes: Buffer.from("Nothing.") };
  return (await runReader(document, defaults, signal)).isConfined;
}

async function runReader(document: Document, options: ReadingOptions, stop: AbortSignal): Promise<Gathered> {
  stop.throwIfAborted();
  const { kind, charset, bytes } = document;
  const pieces = bytes instanceof Uint8Array ? [bytes] : bytes;
  if (pieces.every((piece) => piece.length === 0)) throw new ReadingFailure("empty");
  // Strangers declare it: nothing that could pass for an option.
  const declared = /^\w[\w.:+-]{0,39}$/.test(charset ?? "") ? ["--charset", `${charset}`] : [];
  const child = Bun.spawn([...options.command, "read-document", kind, ...declared], {
    env: {},
    ...(process.platform === "win32" ? {} : { cwd: "/" }),
    stdin: "pipe",
    stdout: "pipe",
    // Parsers quote documents in their complaints.
    stderr: "ignore",
  });
  let ended: FailureReason | null = null;
  const end = (reason: FailureReason | null) => {
    ended ??= reason;
    child.kill("SIGKILL");
  };
  const onStop = () => end(null);
  stop.addEventListener("abort", onStop);
  const deadline = setTimeout(() => end("time"), options.timeoutMs);
  const watch = setInterval(() => {
    if (findResidentBytes(child.pid) > options.memoryBytes) end("memory");
  }, watchEveryMs);
  try {
    const [gathered] = await Promise.all([
      gatherReports(child.stdout, options.outputBytes),
      feed(child.stdin, pieces, stop),
    ]);
    return gathered;
  } catch (error) {
    stop.throwIfAborted();
    if (ended !== null) throw new ReadingFailure(ended);
    throw error;
  } finally {
    clearTimeout(deadline);
    clearInterval(watch);
    stop.removeEventListener("abort", onStop);
    // It has reported all, or its report is not wanted any more.
    child.kill("SIGKILL");
    await child.exited;
  }
}

/** Never rejects: a process that has ended accepts nothing, and its report shows why. */
async function feed(input: Bun.FileSink, pieces: readonly Uint8Array[], stop: AbortSignal): Promise<void> {
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length && !stop.aborted; at += sliceBytes) {
        // A promise where the pipe is full: its rejection would go unhandled.
        await input.write(piece.subarray(at, at + sliceBytes));
        await input.flush();
      }
    }
    await input.end();
  } catch {
    // As above.
  }
}

/** 0 where the system does not report it, or the process has ended. */
function findResidentBytes(pid: number): number {
  if (process.platform !== "linux") return 0;
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0;
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}

/** JSON writes some characters as six. */
const maxLineLength = pieceLength * 6 + 100;

interface Gathered extends ReadDocument {
  readonly isConfined: boolean;
}

/**
 * Gathers what a reading process reports, within bounds, and trusts none of it. Rejects with `ReadingFailure`
 * if the process reports one, reports too much, or ends before it has reported all.
 */
async function gatherReports(output: ReadableStream<Uint8Array>, maxBytes: number): Promise<Gathered> {
  const pages = new Map<number | null, PiecedText>();
  let title: string | null = null;
  let isConfined = false;
  let isRead = false;
  let isWorded = false;
  for await (const line of splitLines(output, maxBytes)) {
    const report = parseReport(line);
    if (report.is === "confined") isConfined = true;
    if (report.is === "title" && typeof report.title === "string") title = report.title.slice(0, 1000);
    if (report.is === "failed" && isFailureReason(report.reason)) throw new ReadingFailure(report.reason);
    if (report.is === "read") isRead = true;
    if (report.is !== "text" || typeof report.text !== "string") continue;
    const number = typeof report.page === "number" ? report.page : null;
    isWorded ||= hasWords(report.text);
    let markdown = pages.get(number);
    if (markdown === undefined) {
      markdown = new PiecedText();
      pages.set(number, markdown);
    }
    markdown.add(report.text);
  }
  if (!isRead) throw new ReadingFailure("crashed");
  if (!isWorded) throw new ReadingFailure("empty");
  return { title, pages: Array.from(pages, ([number, markdown]) => ({ number, markdown })), isConfined };
}

async function* splitLines(output: ReadableStream<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const slices = new Slices();
  let rest = "";
  let takenBytes = 0;
  for await (const bytes of output) {
    takenBytes += bytes.length;
    if (takenBytes > maxBytes) throw new ReadingFailure("long");
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxLineLength) throw new ReadingFailure("crashed");
    yield* lines;
    // What has piled up in the pipe comes without a turn of the event loop in between.
    if (slices.isOver) await slices.pause();
  }
}

function parseReport(line: string): Record<string, unknown> {
  try {
    const report: unknown = JSON.parse(line);
    return typeof report === "object" && report !== null ? { ...report } : {};
  } catch {
    throw new ReadingFailure("crashed");
  }
}
