/**
 * Runs `dist/companiond` as an operator does: in its own process, with its own environment and an empty directory.
 *
 *     await using server = await startExecutable({ args: ["--demo"], env: { OPENAI_BASE_URL: mock.url } });
 *     const response = await fetch(`${server.url}/healthz`);
 *     expect(await server.stop()).toBe(0);
 *
 * Test files that import this file run after the build (`bun run ci` does that; otherwise `bun run build` first).
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
  /** The complete environment of the process: nothing is inherited from the test. */
  env?: Readonly<Record<string, string>>;
  /** For a second start on the same data; by default a new directory that is deleted with the server. */
  dataDir?: string;
  /** The working directory; by default an empty one. */
  cwd?: string;
  /** A different build; by default `dist/companiond`. */
  executable?: string;
  /** For a server that must be found again after a restart; by default any free port. */
  port?: number;
  /** What comes before the command, and becomes it: a program that changes the process's surroundings. */
  enter?: readonly string[];
}

export interface LogLine {
  level: string;
  event: string;
  [field: string]: unknown;
}

export interface RunningExecutable extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** Everything printed so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** The log so far. */
  readonly log: readonly LogLine[];
  /** Resolves with the first log line of this event, even one from before the call. */
  logged(event: string): Promise<LogLine>;
  /** Resolves with the first match on standard error, even one from before the call. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM (or another signal) and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
  /** Resolves with the exit code once it has ended on its own. */
  readonly exited: Promise<number>;
  /** Kills the process, as a crash would; resolves when it has ended. */
  kill(): Promise<void>;
}

/** Resolves when the server is listening; rejects with its output if it ends before that. */
export async function startExecutable(options: ExecutableOptions = {}): Promise<RunningExecutable> {
  const executable = findExecutable(options.executable);
  const own = temporaryDirectory();
  const dataDir = options.dataDir ?? own.file("data");
  const port = String(options.port ?? 0);
  const command = [executable, "serve", "--port", port, "--data-dir", dataDir, ...(options.args ?? [])];
  const child = Bun.spawn([...(options.enter ?? []), ...command], {
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
    exited: waitForExit(child),
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
  options: {
    env?: Readonly<Record<string, string>>;
    cwd?: string;
    input?: string | Uint8Array<ArrayBuffer>;
    executable?: string;
  } = {},
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

/** As a shell reports it: 128 plus the signal's number if a signal ended it. */
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
  // The last line may still be in transit.
  for (const line of text.split("\n").slice(0, -1)) if (line.startsWith("{")) lines.push(JSON.parse(line));
  return lines;
}

interface Collector {
  text(): string;
  /** Resolves with the first defined value, or with null if the stream ends without one. */
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
