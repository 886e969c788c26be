/** The real process behind the commands: its streams, signals and last line of defence. */
import { fstatSync, statSync, writeSync } from "node:fs";
import type { FileSink } from "bun";
import type { CliIo } from "./command.ts";
import { onSignal } from "./signals.ts";

const standardOutput = 1;
const standardError = 2;
const exitCodes = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

/** `end` ends the process at once. */
export function openProcessIo(end: (exitCode: number) => void): CliIo {
  const stop = Promise.withResolvers<string>();
  let isStopTaken = false;
  let isStopping = false;
  let takeReload: (() => void) | null = null;
  // A command that nobody takes defects for has failed by one; a server goes on (see `onDefect`).
  let takeDefect = (error: unknown) => {
    writeLastWords(`companiond: this should not have happened: ${describe(error)}\n`);
    end(1);
  };

  onSignal((signal) => {
    if (signal === "SIGHUP" && takeReload !== null) return takeReload();
    // A command that serves lets its streams finish; any other, and a second signal, ends at once.
    if (!isStopTaken || isStopping) end(exitCodes[signal]);
    isStopping = true;
    stop.resolve(signal);
  });

  for (const event of ["unhandledRejection", "uncaughtException"] as const) {
    process.on(event, (error: unknown) => takeDefect(error));
  }

  // Not `process.stdout`, which loads Node's streams and sockets: milliseconds of every start.
  const out = openSink(Bun.stdout);
  const error = openSink(Bun.stderr);

  return {
    environment: undefined,
    isTerminal: isTerminal(standardOutput),
    writeOut: out,
    writeError: error,
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

/** The promises resolve when the text was handed over, so that ending the process loses none of it. */
function openSink(file: Bun.BunFile): (text: string) => Promise<void> {
  let sink: FileSink | null = null;
  return async (text) => {
    sink ??= file.writer();
    try {
      await sink.write(text);
      await sink.flush();
    } catch {
      // A reader of our output that goes away (`| head`) is no defect.
    }
  };
}

/** Asks without `node:tty`, which loads as much as `process.stdout`, unless there may be a terminal. */
function isTerminal(descriptor: number): boolean {
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isCharacterDevice() || isNullDevice(facts)) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

function isNullDevice({ rdev }: { rdev: number }): boolean {
  const known = statSync("/dev/null", { throwIfNoEntry: false });
  return known !== undefined && known.rdev === rdev;
}

/** At once, since the process ends right after. */
function writeLastWords(text: string): void {
  try {
    writeSync(standardError, text);
  } catch {
    // Nobody reads them.
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
