/** Answers a trial's calls of tools from results that its caller gives: no tool is called, and no visitor is asked. */
import type { CallAnswer } from "../../contracts/tool-servers.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import { maxResultBytes } from "../../domain/tool.ts";
import type { Toolbox } from "./toolbox.ts";

/**
 * By the name that the model calls: `{result}`, `{error}`, or a list of those, one for each call in order. Anything else is
 * the result itself, also a list of other things and one without entries. What is no list answers every call.
 */
export type GivenResults = Readonly<Record<string, JsonValue>>;

/** Of a call that no result is given for. */
export const unanswered: CallAnswer = {
  outcome: "failed",
  sentence: "The tool could not be called.",
  reason: "No result was given for this call.",
};

const tooLarge: CallAnswer = {
  outcome: "failed",
  sentence: "The tool's result is too large.",
  reason: "The result that was given is too large.",
};

export function answerFrom(results: GivenResults, toolbox: Toolbox): Toolbox {
  const counts = new Map<string, number>();

  function answer(name: string): CallAnswer {
    const given = Object.hasOwn(results, name) ? results[name] : undefined;
    if (given === undefined) return unanswered;
    if (!Array.isArray(given) || given.length === 0 || !given.every(isStated)) return toAnswer(given);
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    const one = given[nth];
    return one === undefined ? unanswered : toAnswer(one);
  }

  return {
    ...toolbox,
    async open(companion, caller, requestId, own) {
      const opened = await toolbox.open(companion, { ...caller, hasEvents: true }, requestId, own);
      return opened.map((open) => ({
        ...open,
        tool: { ...open.tool, confirm: false },
        call: async () => answer(open.offered.name),
      }));
    },
  };
}

function isStated(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const [name, ...more] = Object.keys(value);
  return more.length === 0 && (name === "result" || name === "error");
}

function toAnswer(value: JsonValue): CallAnswer {
  const { result = null, error } = isStated(value)
    ? (value as Partial<Record<"result" | "error", JsonValue>>)
    : { result: value };
  const text = toText(error ?? result);
  // As of a tool that is called.
  if (Buffer.byteLength(text) > maxResultBytes) return tooLarge;
  if (error === undefined) return { outcome: "done", result: text };
  return { outcome: "failed", sentence: text, reason: "The error was given." };
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
