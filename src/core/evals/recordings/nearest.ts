/** Explains a request that was not recorded by the recorded one that differs least from it. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";

interface Difference {
  /** `messages[2].text`. */
  readonly path: string;
  /** Undefined where there is none. */
  readonly recorded: JsonValue | undefined;
  readonly asked: JsonValue | undefined;
}

/** What is shown of a value, in characters. */
const shownLength = 60;
/** What is shown before the difference, in characters. */
const shownBefore = 15;

/** `recorded`: by the names of their files. Null without any. */
export function findNearest(asked: JsonObject, recorded: readonly (readonly [string, JsonObject])[]): string | null {
  let nearest: { name: string; differences: Difference[] } | null = null;
  for (const [name, request] of recorded) {
    const differences = [...listDifferences("", request, asked)];
    if (nearest === null || differences.length < nearest.differences.length) nearest = { name, differences };
  }
  const [first] = nearest?.differences ?? [];
  if (nearest === null || first === undefined) return null;
  const { path } = first;
  const [before, now] = showBoth(first);
  return `The nearest, ${nearest.name}, differs in ${path}: recorded is ${before}, asked is ${now}.`;
}

function* listDifferences(
  path: string,
  recorded: JsonValue | undefined,
  asked: JsonValue | undefined,
): Generator<Difference> {
  if (recorded === asked) return;
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    for (let at = 0; at < Math.max(recorded.length, asked.length); at++) {
      yield* listDifferences(`${path}[${at}]`, recorded[at], asked[at]);
    }
  } else if (isJsonObject(recorded) && isJsonObject(asked)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(asked)])) {
      yield* listDifferences(path === "" ? name : `${path}.${name}`, recorded[name], asked[name]);
    }
  } else {
    yield { path, recorded, asked };
  }
}

function showBoth({ recorded, asked }: Difference): [string, string] {
  if (typeof recorded !== "string" || typeof asked !== "string") return [show(recorded), show(asked)];
  let same = 0;
  while (same < recorded.length && recorded[same] === asked[same]) same++;
  const from = Math.max(0, same - shownBefore);
  return [show(recorded, from), show(asked, from)];
}

function show(value: JsonValue | undefined, from = 0): string {
  if (value === undefined) return "absent";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const end = from + shownLength;
  const shown = `${from > 0 ? "…" : ""}${text.slice(from, end).toWellFormed()}${text.length > end ? "…" : ""}`;
  return typeof value === "string" ? JSON.stringify(shown) : shown;
}
