/** Gathers what a reading process reports, within bounds, and believes nothing about it. */
import type { ReadDocument, ReadPage } from "../../../domain/knowledge.ts";
import { Slices } from "../../../lib/pause.ts";
import { isFailureReason, ReadingFailure } from "./failure.ts";
import { hasWords } from "./plain-text.ts";
import { pieceLength } from "./report.ts";

/** JSON writes some characters as six. */
const maxLineLength = pieceLength * 6 + 100;

export interface Gathered extends ReadDocument {
  readonly isConfined: boolean;
}

/** Rejects with `ReadingFailure` if the process reports one, says too much, or ends before it has said all. */
export async function gatherReports(output: ReadableStream<Uint8Array>, maxBytes: number): Promise<Gathered> {
  const pages = new Map<number | null, string[]>();
  let title: string | null = null;
  let isConfined = false;
  let isRead = false;
  for await (const line of splitLines(output, maxBytes)) {
    const report = parseReport(line);
    if (report.is === "confined") isConfined = true;
    if (report.is === "title" && typeof report.title === "string") title = report.title.slice(0, 1000);
    if (report.is === "failed" && isFailureReason(report.reason)) throw new ReadingFailure(report.reason);
    if (report.is === "read") isRead = true;
    if (report.is !== "text" || typeof report.text !== "string") continue;
    const number = typeof report.page === "number" ? report.page : null;
    const pieces = pages.get(number);
    if (pieces === undefined) pages.set(number, [report.text]);
    else pieces.push(report.text);
  }
  if (!isRead) throw new ReadingFailure("crashed");
  const read: ReadPage[] = [];
  let isWorded = false;
  for (const [number, pieces] of pages) {
    isWorded ||= pieces.some(hasWords);
    read.push({ number, markdown: pieces.join("") });
  }
  if (!isWorded) throw new ReadingFailure("empty");
  return { title, pages: read, isConfined };
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
