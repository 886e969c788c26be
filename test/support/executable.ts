/**
 * Runs `dist/companiond` as an operator does: a process of its own, an environment of its own, an empty directory.
 *
 *     await using server = await startExecutable({ args: ["--demo"], env: { OPENAI_BASE_URL: mock.url } });
 *     const answer = await fetch(`${server.url}/healthz`);
 *     expect(await server.stop()).toBe(0);
 *
 * Test files that import this one run after the build (`bun run ci` sees to it; else `bun run build` first).
 */
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { inTime } from "./eventually.ts";
import { temporaryDirectory } from "./temporary.ts";

export const executablePath = join(import.meta.dir, "../../dist/companiond");

export interface ExecutableOptions {
  /** After `serve --port 0 --data-dir …`. */
  args?: readonly string[];
  /** All that the process gets: nothing of the test's own environment. */
  env?: Readonly<Record<string, string>>;
  /** For a second start on the same data; otherwise a directory of its own that goes with the server. */
  dataDir?: string;
  /** The working directory; otherwise an empty one. */
  cwd?: string;
  /** Another build; otherwise `dist/companiond`. */
  executable?: string;
  /** For what must be found again after a restart; otherwise any free one. */
  port?: number;
}

export interface LogLine {
  level: string;
  event: string;
  [field: string]: unknown;
}

export interface RunningExecutable extends AsyncDisposable {
  /** Without a final slash. */
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** All that was printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** The log so far. */
  readonly log: readonly LogLine[];
  /** Resolves with the first log line of this event, also with one from before the call. */
  logged(event: string): Promise<LogLine>;
  /** Resolves with the first match on standard error, also one from before the call. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM (or another signal) and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Ends it at once, as a crash would; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Resolves when the server listens; rejects with its output where it ends before that. */
export async function startExecutable(options: ExecutableOptions = {}): Promise<RunningExecutable> {
  const executable = findExecutable(options.executable);
  const own = temporaryDirectory();
  const dataDir = options.dataDir ?? own.file("data");
  const port = String(options.port ?? 0);
  const child = Bun.spawn([executable, "serve", "--port", port, "--data-dir", dataDir, ...(options.args ?? [])], {
    cwd: options.cwd ?? own.path,
    env: { ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const out = collect(child.stdout);
  const error = collect(child.stderr);
  const end = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await child.exited;
  };

  const findLine = async (event: string, withinMs?: number): Promise<LogLine> => {
    const looking = out.until((text) => parseLog(text).find((line) => line.event === event));
    const found = await inTime(looking, { what: `the log line "${event}"`, withinMs });
    if (found !== null) return found;
    await error.ended;
    throw new Error(`companiond ended without logging "${event}":\n${out.text()}\n${error.text()}`);
  };

  let listening: LogLine;
  try {
    listening = await findLine("listening");
  } catch (failure) {
    await end();
    own[Symbol.dispose]();
    throw failure;
  }
  return {
    url: String(listening.url),
    pid: child.pid,
    dataDir,
    get stdout() {
      return out.text();
    },
    get stderr() {
      return error.text();
    },
    get log() {
      return parseLog(out.text());
    },
    logged: findLine,
    async printed(pattern) {
      const looking = error.until((text) => pattern.exec(text) ?? undefined);
      const match = await inTime(looking, { what: `${pattern} on standard error` });
      if (match !== null) return match;
      throw new Error(`companiond ended without printing ${pattern}:\n${error.text()}`);
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return waitForExit(child);
    },
    kill: end,
    async [Symbol.asyncDispose]() {
      await end();
      own[Symbol.dispose]();
    },
  };
}

export interface Finished {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs one command to its end. */
export async function runExecutable(
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; cwd?: string; input?: string; executable?: string } = {},
): Promise<Finished> {
  const executable = findExecutable(options.executable);
  using own = temporaryDirectory();
  const child = Bun.spawn([executable, ...args], {
    cwd: options.cwd ?? own.path,
    env: { ...options.env },
    stdin: new Blob([options.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    waitForExit(child),
  ]);
  return { exitCode, stdout, stderr };
}

/** As a shell tells it: 128 and the signal's number where one ended it. */
async function waitForExit(child: Subprocess): Promise<number> {
  await child.exited;
  if (child.exitCode !== null) return child.exitCode;
  const { signalCode } = child;
  return 128 + (typeof signalCode === "string" ? constants.signals[signalCode] : (signalCode ?? 0));
}

function findExecutable(path = executablePath): string {
  if (!existsSync(path)) throw new Error(`There is no ${path}: run \`bun run build\` first.`);
  return path;
}

function parseLog(text: string): LogLine[] {
  const lines: LogLine[] = [];
  // The last line may still be on its way.
  for (const line of text.split("\n").slice(0, -1)) if (line.startsWith("{")) lines.push(JSON.parse(line));
  return lines;
}

interface Collector {
  text(): string;
  /** Resolves with the first value that is not undefined, or with null when the stream ended without one. */
  until<Value>(find: (text: string) => Value | undefined): Promise<Value | null>;
  ended: Promise<void>;
}

function collect(stream: ReadableStream<Uint8Array>): Collector {
  let text = "";
  let isEnded = false;
  let waiting: (() => void)[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const one of woken) one();
  };
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      text += decoder.decode(bytes, { stream: true });
      wake();
    }
    isEnded = true;
    wake();
  })();
  return {
    text: () => text,
    ended,
    async until(find) {
      for (;;) {
        const found = find(text);
        if (found !== undefined) return found;
        if (isEnded) return null;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
