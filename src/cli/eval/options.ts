/** What `companiond eval` is to do, from its arguments. */
import type { RunOptions } from "../../core/evals/run.ts";
import { maxRepeats } from "../../core/evals/suite.ts";
import { type ActionInput, Misuse } from "../command.ts";

export type EvalMode = { readonly kind: "replay" | "record"; readonly directory: string } | { readonly kind: "live" };

export interface EvalOptions extends Omit<RunOptions, "noteCase"> {
  readonly mode: EvalMode;
  /** Whose companions are tested. */
  readonly where: "files" | "account" | "url";
  /** Whether the settings of this machine count. */
  readonly isLocal: boolean;
  readonly isDemo: boolean;
  /** Null: companions as they are. */
  readonly tried: "draft" | { readonly version: number } | null;
  readonly slug: string | null;
  readonly model: string | null;
}

/** Throws `Misuse` for the first contradiction. */
export function readEvalOptions({ args }: Pick<ActionInput, "args">): EvalOptions {
  const mode = readMode({ args });
  const given = (["file", "account", "url"] as const).filter((name) => args.has(name));
  const [source] = given;
  if (source === undefined || given.length > 1) throw new Misuse("give one of -f, --account and --url.");
  if (mode.kind !== "live" && source !== "file") throw new Misuse(`--${mode.kind} needs the companions' files: -f.`);
  const tried = readTried({ args });
  if (tried !== null && source === "file") throw new Misuse("--draft and --version are of an account's companions.");
  if (args.has("demo") && mode.kind === "replay") throw new Misuse("--replay asks no one, so --demo has no effect.");
  const repeat = readNumber(args.find("repeat"), "--repeat", /^[1-9]\d{0,2}$/);
  if (repeat !== null && repeat > maxRepeats) throw new Misuse(`--repeat must be at most ${maxRepeats}.`);
  const maxCost = readNumber(args.find("max-cost"), "--max-cost", /^\d{1,6}(\.\d{1,6})?$/);
  return {
    mode,
    where: source === "file" ? "files" : source,
    isLocal: source !== "url",
    isDemo: args.has("demo"),
    isFree: mode.kind === "replay",
    tried,
    slug: args.find("slug") ?? null,
    model: args.find("model") ?? null,
    repeat,
    maxCostMicros: maxCost === null ? null : Math.round(maxCost * 1_000_000),
  };
}

function readMode({ args }: Pick<ActionInput, "args">): EvalMode {
  const given = (["replay", "record", "live"] as const).filter((name) => args.has(name));
  const [kind] = given;
  if (kind === undefined || given.length > 1) throw new Misuse("give one of --replay, --record and --live.");
  return kind === "live" ? { kind } : { kind, directory: args.text(kind) };
}

function readTried({ args }: Pick<ActionInput, "args">): EvalOptions["tried"] {
  const version = readNumber(args.find("version"), "--version", /^[1-9]\d{0,8}$/);
  if (version !== null && args.has("draft")) throw new Misuse("give --draft or --version: a draft is no version.");
  if (args.has("draft")) return "draft";
  return version === null ? null : { version };
}

function readNumber(text: string | undefined, option: string, form: RegExp): number | null {
  if (text === undefined) return null;
  if (!form.test(text)) throw new Misuse(`${option} must be a number.`);
  return Number(text);
}
