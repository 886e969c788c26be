/** JSON that people type: the object, or what is wrong with the text and where. Browsers report the position of some faults only. */
import type { Json } from "./types.ts";

export type JsonObject = { [key: string]: Json };
export type ReadObject = { value: JsonObject } | { problem: string };

/** Nothing at all is an empty object. */
export function readJsonObject(text: string): ReadObject {
  try {
    const value: Json = text.trim() === "" ? {} : JSON.parse(text);
    return isObject(value) ? { value } : { problem: "Must be a JSON object: { … }." };
  } catch {
    return { problem: `Not JSON yet: ${describeFault(text)}.` };
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none within strings.
const quoted = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const blank = /[ \t\r\n]*/y;
/** Deeper text is no schema, and each level is a call. */
const maxDepth = 500;

class Fault extends Error {}

/** For text that is not JSON. */
function describeFault(text: string): string {
  let at = 0;
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const isThere = pattern.test(text);
    if (isThere) at = pattern.lastIndex;
    return isThere;
  };
  /** What comes next, behind white space. */
  const peek = () => {
    skip(blank);
    return text[at];
  };
  function expect(isThere: boolean, what: string): void {
    if (!isThere) throw new Fault(what);
  }
  function readList(end: string, readItem: () => void): void {
    at++;
    if (peek() !== end) {
      do readItem();
      while (peek() === "," && ++at);
    }
    expect(peek() === end, `a comma or ${end} is expected`);
    at++;
  }
  function readValue(depth: number): void {
    expect(depth < maxDepth, "it is nested too deeply");
    const next = peek();
    if (next === "[") readList("]", () => readValue(depth + 1));
    else if (next !== "{") expect(skip(next === '"' ? quoted : plain), "a value is expected");
    else {
      readList("}", () => {
        peek();
        expect(skip(quoted), 'a name in "quotes" is expected');
        expect(peek() === ":", "a colon is expected");
        at++;
        readValue(depth + 1);
      });
    }
  }
  try {
    readValue(0);
    expect(peek() === undefined, "nothing more is expected");
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    const lines = text.slice(0, at).split("\n");
    return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}: ${fault.message}`;
  }
  return "it cannot be read";
}
