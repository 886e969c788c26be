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
  let nearest: { name: string; first: Difference; count: number; same: number } | null = null;
  for (const [name, request] of recorded) {
    const [first, ...others] = listDifferences("", request, asked);
    if (first === undefined) continue;
    const found = { name, first, count: others.length, same: countSame(first) };
    if (nearest !== null && (found.count - nearest.count || nearest.same - found.same) >= 0) continue;
    nearest = found;
  }
  if (nearest === null) return null;
  const { path } = nearest.first;
  const [before, now] = showBoth(nearest.first);
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

/** Characters at the beginning of both. */
function countSame({ recorded, asked }: Difference): number {
  if (typeof recorded !== "string" || typeof asked !== "string") return 0;
  let same = 0;
  while (same < recorded.length && recorded[same] === asked[same]) same++;
  return same;
}

function showBoth(difference: Difference): [string, string] {
  const { recorded, asked } = difference;
  const from = Math.max(0, countSame(difference) - shownBefore);
  return [show(recorded, from), show(asked, from)];
}

function show(value: JsonValue | undefined, from = 0): string {
  if (value === undefined) return "absent";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const end = from + shownLength;
  const shown = `${from > 0 ? "…" : ""}${text.slice(from, end).toWellFormed()}${text.length > end ? "…" : ""}`;
  return typeof value === "string" ? JSON.stringify(shown) : shown;
}
