/** Checks the typed arguments against an action's declaration. */
import { parseArgs } from "node:util";
import { findNearest } from "../lib/edit-distance.ts";
import { type Action, type Arguments, directory, file, Misuse, type OptionSpec, showOperand } from "./command.ts";

/** Accepted by every action. */
export const commonOptions: Readonly<Record<string, OptionSpec>> = {
  "data-dir": { value: directory, about: "The directory of all durable data (./companiond-data)." },
  "env-file": { value: file, about: "Read variables from a file; the environment takes precedence." },
  json: { about: "Print one JSON value and nothing else." },
  help: { about: "Show this help." },
};

/** Throws `Misuse` for the first problem found. */
export function readArguments(action: Action, words: readonly string[]): Arguments {
  const declared = { ...action.options, ...commonOptions };
  const values = new Map<string, string[]>();
  const operands: string[] = [];
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(declared).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? "boolean" : "string", ...(short === undefined ? {} : { short }) },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const [name, typed] = token.rawName === "-h" ? ["help", "--help"] : [token.name, token.rawName];
    takeOption(declared, values, name, typed, token.value);
  }
  if (!values.has("help")) checkComplete(action, declared, values, operands);
  return {
    operand: (index) => operands[index] ?? "",
    operands,
    text: (name) => values.get(name)?.at(-1) ?? "",
    find: (name) => values.get(name)?.at(-1),
    list: (name) => values.get(name) ?? [],
    has: (name) => values.has(name),
  };
}

function takeOption(
  declared: Readonly<Record<string, OptionSpec>>,
  values: Map<string, string[]>,
  name: string,
  typed: string,
  value: string | undefined,
): void {
  const spec = Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (spec === undefined || !(typed.startsWith("--") || typed === `-${spec.short}`)) {
    const nearest = findNearest(name, Object.keys(declared));
    throw new Misuse(`unknown option ${typed}.${nearest === null ? "" : ` Did you mean --${nearest}?`}`);
  }
  if (spec.value !== undefined && value === undefined)
    throw new Misuse(`--${name} needs a value: ${spec.value.shown}.`);
  if (spec.value === undefined && value !== undefined) throw new Misuse(`--${name} takes no value.`);
  const earlier = values.get(name);
  if (earlier !== undefined && spec.value !== undefined && !spec.isRepeatable) {
    throw new Misuse(`--${name} was given twice.`);
  }
  values.set(name, [...(earlier ?? []), value ?? ""]);
}

function checkComplete(
  action: Action,
  declared: Readonly<Record<string, OptionSpec>>,
  values: Map<string, string[]>,
  operands: readonly string[],
): void {
  const isGiven = (name: string) => Boolean(values.get(name)?.at(-1));
  const missing = Object.entries(declared).filter(
    ([name, { isRequired, requiredUnless = name }]) => isRequired && !isGiven(name) && !isGiven(requiredUnless),
  );
  if (missing.length > 0) {
    throw new Misuse(`missing ${missing.map(([name, spec]) => `--${name} ${spec.value?.shown}`).join(" and ")}.`);
  }
  const expected = action.operands ?? [];
  const absent = expected.slice(operands.length).filter(({ isOptional }) => !isOptional);
  if (absent.length > 0) throw new Misuse(`missing ${absent.map(showOperand).join(" and ")}.`);
  const surplus = operands[expected.length];
  if (surplus !== undefined && !expected.at(-1)?.isRepeatable)
    throw new Misuse(`unexpected argument ${JSON.stringify(surplus)}.`);
}
