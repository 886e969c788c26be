/** The real process behind the commands: its streams, signals and last-resort error handling. */
import { fstatSync, statSync, writeSync } from "node:fs";
import type { FileSink } from "bun";
import type { CliIo } from "./command.ts";
import { openProcessUser } from "./process-user.ts";
import { onSignal } from "./signals.ts";
import { serviceSettings } from "./unread-settings.ts";

const standardInput = 0;
const standardOutput = 1;
const standardError = 2;
const exitCodes = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

/** `end` ends the process immediately. */
export function openProcessIo(end: (exitCode: number) => void): CliIo {
  const stop = Promise.withResolvers<string>();
  let isStopTaken = false;
  let isStopping = false;
  let takeReload: (() => void) | null = null;
  // Without a defect listener, a defect is a failure of the command; a server continues (see `onDefect`).
  let takeDefect = (error: unknown) => {
    writeLastWords(`companiond: unexpected error: ${describe(error)}\n`);
    end(1);
  };

  onSignal((signal) => {
    if (signal === "SIGHUP" && takeReload !== null) return takeReload();
    // A server lets its streams finish after the first signal; any other command ends immediately.
    if (!isStopTaken || isStopping) end(exitCodes[signal]);
    isStopping = true;
    stop.resolve(signal);
  });

  for (const event of ["unhandledRejection", "uncaughtException"] as const) {
    process.on(event, (error: unknown) => takeDefect(error));
  }

  // Not `process.stdout`, which loads Node's streams and sockets and adds milliseconds to every start.
  const out = openSink(Bun.stdout);
  const error = openSink(Bun.stderr);

  return {
    environment: undefined,
    isTerminal: isTerminal(standardOutput),
    writeOut: out,
    writeError: error,
    get errorTarget() {
      if (isSameFile(standardOutput, standardError)) return "output";
      return isTerminal(standardError) ? "terminal" : "elsewhere";
    },
    get canAsk() {
      return isTerminal(standardInput) && isTerminal(standardError);
    },
    async ask(question) {
      await error(question);
      return await readLine();
    },
    user: openProcessUser(),
    serviceSettings,
    readInput: () => Bun.stdin.text(),
    takeStopSignal() {
      isStopTaken = true;
      return stop.promise;
    },
    onReload(listener) {
      takeReload = listener;
    },
    onDefect(listener) {
      takeDefect = listener;
    },
  };
}

/** The promises resolve once the text is handed over, so that ending the process loses nothing. */
function openSink(file: Bun.BunFile): (text: string) => Promise<void> {
  let sink: FileSink | null = null;
  return async (text) => {
    sink ??= file.writer();
    try {
      await sink.write(text);
      await sink.flush();
    } catch {
      // A reader that closes our output (`| head`) is not an error.
    }
  };
}

/** A terminal hands over whole lines. */
async function readLine(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of Bun.stdin.stream()) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes("\n")) break;
  }
  return text.split(/\r?\n/)[0] ?? "";
}

/** Avoids `node:tty`, which loads as much as `process.stdout`, unless there may be a terminal. */
function isTerminal(descriptor: number): boolean {
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isCharacterDevice() || isNullDevice(facts)) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

function isSameFile(one: number, other: number): boolean {
  try {
    const [a, b] = [fstatSync(one, { bigint: true }), fstatSync(other, { bigint: true })];
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

function isNullDevice({ rdev }: { rdev: number }): boolean {
  const known = statSync("/dev/null", { throwIfNoEntry: false });
  return known !== undefined && known.rdev === rdev;
}

/** Written synchronously, since the process ends right after. */
function writeLastWords(text: string): void {
  try {
    writeSync(standardError, text);
  } catch {
    // Standard error has no reader.
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
