/** What a command is: a file that exports one `Command`, and an entry in the table of `commands.ts`. */
import type { Config } from "../config/config.ts";
import type { DataUse, OpenOptions } from "../contracts/store/engine.ts";
import type { Store, WriteContext } from "../contracts/store/store.ts";
import type { JsonValue } from "../domain/companion.ts";
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { ProcessUser } from "./process-user.ts";

export interface Command {
  name: string;
  /** One line in the list of commands. */
  about: string;
  /** One action without a name, or several named ones: `account create`. */
  actions: readonly Action[];
  /** Shown by `--help` after the options; made then, since formatting takes more than a millisecond. */
  makeNotes?: () => string;
}

/** A command that is one action; its name and sentence are the action's. */
export function singleCommand(action: Action, makeNotes = () => ""): Command {
  return { name: action.name, about: action.about, actions: [{ ...action, name: "" }], makeNotes };
}

/** An entry of the table. A command is loaded on demand, so that others do not slow it down. */
export interface CommandEntry {
  name: string;
  /** In no list, and in no suggestion: for this program itself, or of no use in this build. */
  isHidden?: boolean;
  load(): Promise<Command>;
}

export interface Action {
  name: string;
  about: string;
  operands?: readonly Operand[];
  options?: Readonly<Record<string, OptionSpec>>;
  /**
   * What it does to the data, and so what opening the store may do to it; `none`: it never accesses it. What `reads` may
   * still write where the schema is this program's.
   */
  data: DataUse | "none";
  /** Whether with these arguments it does without the data after all: then the data directory is nothing to it. */
  sparesData?(args: Arguments): boolean;
  /**
   * It opens files or ports that the command line names. Root keeps the rights for it until the store is open, or the
   * action settles; any other action is the owner of the data directory for good as soon as that is known.
   */
  opensAsCaller?: true;
  /** It has a log, which is JSON unless a person reads it; then its failures are lines of it. */
  hasLog?: true;
  /** It reports itself which variables have no effect; for any other action that goes to standard error. */
  tellsIdle?: true;
  /** Resolves with what to print, or null if the action has printed it. */
  run(input: ActionInput): Promise<ActionResult | null>;
}

export interface OptionSpec {
  /** An option without it is a switch. */
  value?: Value;
  /** A letter: `f` for `-f`. */
  short?: string;
  about: string;
  isRequired?: true;
  /** The option that makes it optional. */
  requiredUnless?: string;
  isRepeatable?: true;
}

/** What is typed for an option or an operand: how the help shows it, and what shells complete it with. */
export interface Value {
  /** `<email>`, or `free|paid`. */
  readonly shown: string;
  /** What can be typed as it is; all there is, unless `shown` has more. */
  readonly choices: readonly string[];
  /** What else it may name; null for nothing on this machine. */
  readonly path: "file" | "directory" | null;
  /** Several of the choices, separated by commas. */
  readonly isList: boolean;
}

export interface Operand {
  readonly value: Value;
  /** Only the last may be. */
  readonly isOptional?: true;
  /** One or more; only the last may be. */
  readonly isRepeatable?: true;
}

export function free(word: string): Value {
  return { shown: `<${word}>`, choices: [], path: null, isList: false };
}

export const file: Value = { ...free("file"), path: "file" };
export const directory: Value = { ...free("directory"), path: "directory" };

export function oneOf(choices: readonly string[]): Value {
  return { shown: choices.join("|"), choices, path: null, isList: false };
}

export function listOf(word: string, choices: readonly string[]): Value {
  return { shown: `<${word}>`, choices, path: null, isList: true };
}

export function showOperand({ value, isOptional, isRepeatable }: Operand): string {
  const shown = `${value.shown}${isRepeatable ? "…" : ""}`;
  return isOptional ? `[${shown}]` : shown;
}

export interface ActionResult {
  /** The single value that `--json` prints. */
  json: JsonValue;
  /** What people read instead, without the final newline. */
  text: string;
  /** The action has a result to show, but failed: exit code 1. */
  isFailure?: boolean;
  /** The same because of the configuration: exit code 2. */
  isMisuse?: boolean;
  /** Where the command's help gives another one a meaning of its own. */
  exitCode?: number;
}

export interface ActionInput {
  args: Arguments;
  isJson: boolean;
  /** Those that the help lists, loaded. */
  listCommands(): Promise<readonly Command[]>;
  /** Loaded on first use; from then on root works as the owner of the data directory. Throws `ConfigError`. */
  loadConfig(): Config;
  /** Opened on first use, and migrated by the rules of `OpenOptions`; the runner closes it. */
  openStore(options?: Pick<OpenOptions, "isMigration">): Promise<Store>;
  /** Attributes a change to the command line. */
  audit(): WriteContext;
  ids: IdSource;
  clock: Clock;
  io: CliIo;
}

/** Arguments that match the action's declaration. */
export interface Arguments {
  operand(index: number): string;
  readonly operands: readonly string[];
  /** The value of a required option. */
  text(name: string): string;
  find(name: string): string | undefined;
  list(name: string): string[];
  has(name: string): boolean;
}

/** The process and its streams, which tests replace. */
export interface CliIo {
  /** Undefined: the environment of the process. */
  environment: Readonly<Record<string, string | undefined>> | undefined;
  writeOut(text: string): Promise<void>;
  writeError(text: string): Promise<void>;
  readInput(): Promise<string>;
  /** Whether standard output is a terminal. */
  isTerminal: boolean;
  /** Where standard error goes: where standard output goes, to a terminal, or elsewhere. */
  errorTarget: "output" | "terminal" | "elsewhere";
  /** Whether someone can be asked: standard input and standard error are a terminal. */
  canAsk: boolean;
  /** Writes the question to standard error, and resolves with one line of standard input, without its end. */
  ask(question: string): Promise<string>;
  user: ProcessUser;
  /** The env file of the service that a package installs. */
  serviceSettings: string;
  /**
   * After this call the first SIGTERM, SIGINT or SIGHUP resolves the promise instead of ending the process; a second
   * one still ends it.
   */
  takeStopSignal(): Promise<string>;
  /** After this call SIGHUP calls the listener instead of ending the process. */
  onReload(listener: () => void): void;
  /** After this call unhandled rejections and exceptions go to the listener instead of ending the process. */
  onDefect(listener: (error: unknown) => void): void;
}

/** Wrong use of the command line: exit code 2, with a pointer to the help. */
export class Misuse extends Error {}

/** An expected failure of a command: only its message is shown. */
export class CommandFailure extends Error {}

/** A setting cannot be used as it is, so that trying again is of no use: exit code 2. */
export class SettingFailure extends CommandFailure {}
