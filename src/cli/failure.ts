/** What is printed when a command fails: as text, or where `serve` logs JSON as a line of that log. */
import { ConfigError, findJournalStream } from "../config/config.ts";
import { AppError } from "../domain/errors.ts";
import { type CliIo, CommandFailure, Misuse, SettingFailure } from "./command.ts";
import { isJournal } from "./systemd/journal.ts";

export interface Failure {
  /** 1 failure, 2 wrong use or a configuration that cannot be used. */
  readonly exitCode: 1 | 2;
  /** For standard error, with its line end. */
  readonly text: string;
  /** The same for the log. */
  readonly problems: readonly string[];
  /** Of unexpected errors, for the log alone. */
  readonly error?: unknown;
}

export function explainFailure(error: unknown, hint: string): Failure {
  if (error instanceof Misuse) {
    const problems = [`${error.message} See ${hint}`];
    return { exitCode: 2, text: `companiond: ${error.message}\nSee ${hint}\n`, problems };
  }
  if (error instanceof ConfigError) {
    const problems = error.problems.map(({ sentence }) => sentence);
    return { exitCode: 2, text: `companiond: the configuration has problems:\n${error.message}\n`, problems };
  }
  if (error instanceof AppError) {
    const details = error.errors?.map((field) => `${field.param}: ${field.detail}`) ?? findCause(error);
    const text = [`companiond: ${error.message}`, ...details].join("\n  ");
    return { exitCode: 1, text: `${text}\n`, problems: [error.message, ...details] };
  }
  if (error instanceof CommandFailure) {
    const exitCode = error instanceof SettingFailure ? 2 : 1;
    return { exitCode, text: `companiond: ${error.message}\n`, problems: [error.message] };
  }
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  return {
    exitCode: 1,
    text: `companiond: unexpected error: ${stack}\n`,
    problems: [`unexpected error: ${message}`],
    error,
  };
}

/** The operator at the terminal may read causes that network clients may not. */
function findCause({ cause }: AppError): string[] {
  return cause instanceof Error ? [cause.message] : [];
}

/**
 * Into the log, which `isJson` moves to standard error, and to standard error on its own: `serve >log` must not
 * end without a word.
 */
export async function logFailure(failure: Failure, io: CliIo, isJson: boolean): Promise<void> {
  if (!isJson) await writeLine(failure, io, 1);
  if (isJson || io.errorTarget === "elsewhere") await writeLine(failure, io, 2);
  else if (io.errorTarget === "terminal") await io.writeError(failure.text);
}

/** Regardless of the log's level: that may be what is wrong. */
async function writeLine({ problems, exitCode, error }: Failure, io: CliIo, descriptor: 1 | 2): Promise<void> {
  // Loaded only here: half of what a command would load is for the log.
  const { openLog } = await import("../lib/log.ts");
  let written = Promise.resolve();
  const { log, flush } = openLog({
    level: "error",
    format: "json",
    write: (line) => (written = descriptor === 1 ? io.writeOut(line) : io.writeError(line)),
    hasPriorities: isJournal(descriptor, findJournalStream(io.environment)),
  });
  log.error("serve failed", { problems, exitCode, ...(error === undefined ? {} : { error }) });
  flush();
  await written;
}
