/** What a command is: a file that exports one `Command`, and a line in the table of `commands.ts`. */
import type { Config } from "../config.ts";
import type { JsonValue } from "../domain/companion.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Store, WriteContext } from "../store/store.ts";

export interface Command {
  name: string;
  /** A line of the overview. */
  about: string;
  /** One action without a name, or several with one each: `account create`. */
  actions: readonly Action[];
  /** What `--help` says after the options. */
  notes?: string;
}

/** A line of the table: a command is loaded when it is asked for, so that none pays for the others. */
export interface CommandEntry {
  name: string;
  load(): Promise<Command>;
}

export interface Action {
  name: string;
  about: string;
  /** Names of the arguments, all required. */
  operands?: readonly string[];
  options?: Readonly<Record<string, OptionSpec>>;
  /** Resolves with what to print, or null where the action printed it itself. */
  run(input: ActionInput): Promise<ActionResult | null>;
}

export interface OptionSpec {
  /** What stands for the value in the help; an option without it is a switch. */
  value?: string;
  about: string;
  isRequired?: true;
  isRepeatable?: true;
}

export interface ActionResult {
  /** The one value that `--json` prints. */
  json: JsonValue;
  /** What people read instead, without the last line end. */
  text: string;
  /** It has something to show, and failed all the same: exit code 1. */
  isFailure?: boolean;
}

export interface ActionInput {
  args: Arguments;
  isJson: boolean;
  /** Read on first use; throws `ConfigError`. */
  loadConfig(): Config;
  /** Opened and migrated on first use; the runner closes it. */
  openStore(): Promise<Store>;
  /** Marks a change as made from the command line. */
  audit(): WriteContext;
  ids: IdSource;
  clock: Clock;
  io: CliIo;
}

/** Arguments after they were checked against the action's declaration. */
export interface Arguments {
  operand(index: number): string;
  /** The value of an option that is required. */
  text(name: string): string;
  find(name: string): string | undefined;
  list(name: string): string[];
  has(name: string): boolean;
}

/** The outside of the process, so that tests can stand in for it. */
export interface CliIo {
  /** Undefined: the process's own. */
  environment: Readonly<Record<string, string | undefined>> | undefined;
  writeOut(text: string): Promise<void>;
  writeError(text: string): Promise<void>;
  readInput(): Promise<string>;
  /** Whether a person reads standard output. */
  isTerminal: boolean;
  /**
   * From this call on the first SIGTERM, SIGINT or SIGHUP resolves the promise instead of ending the process; a second
   * one still ends it.
   */
  takeStopSignal(): Promise<string>;
  /** From this call on SIGHUP goes there, and ends nothing. */
  onReload(listener: () => void): void;
  /** From this call on a rejection or exception that nobody handled goes there instead of ending the process. */
  onDefect(listener: (error: unknown) => void): void;
}

/** Wrong use of the command line: exit code 2, with a pointer to the help. */
export class Misuse extends Error {}

/** An expected failure of a command: its sentence alone is shown. */
export class CommandFailure extends Error {}
