/** The real process behind the commands: its streams, signals and last line of defence. */
import type { CliIo } from "./command.ts";
import { onSignal } from "./signals.ts";

const exitCodes = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

/** `end` ends the process at once. */
export function openProcessIo(end: (exitCode: number) => void): CliIo {
  const stop = Promise.withResolvers<string>();
  let isStopTaken = false;
  let isStopping = false;
  let takeReload: (() => void) | null = null;
  // A command that nobody takes defects for has failed by one; a server goes on (see `onDefect`).
  let takeDefect = (error: unknown) => {
    process.stderr.write(`companiond: this should not have happened: ${describe(error)}\n`);
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
  // A reader of our output that goes away (`| head`) is no defect.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

  return {
    environment: undefined,
    isTerminal: process.stdout.isTTY === true,
    writeOut: (text) => write(process.stdout, text),
    writeError: (text) => write(process.stderr, text),
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

/** Resolves when the text was handed over, so that ending the process loses none of it. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
