/** Reads JSON with the line of each value, since `JSON.parse` reports neither lines nor repeated names. */
import type { JsonValue } from "../../domain/json.ts";
import { findNumberFault, type Mark, type MarkedValue, maxDepth, noParts } from "./marked-value.ts";

/** `offset`: where, in UTF-16 units. */
type Report = (offset: number, sentence: string) => void;

const space = /[ \t\r\n]*/y;
const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Null where it is no JSON; what is reported of others is no reason to stop reading. */
export function readJson(json: string, lineAt: (offset: number) => number, report: Report): MarkedValue | null {
  let at = 0;

  function skip(): void {
    space.lastIndex = at;
    space.test(json);
    at = space.lastIndex;
  }

  function readWord(): JsonValue {
    word.lastIndex = at;
    const found = word.exec(json) ?? stop(at);
    at = word.lastIndex;
    return JSON.parse(found[0]);
  }

  function readText(): string {
    const start = at;
    if (json[at] !== '"') stop(at);
    for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === "\\") at++;
    at++;
    try {
      return JSON.parse(json.slice(start, at));
    } catch {
      return stop(start);
    }
  }

  function expect(mark: string): void {
    skip();
    if (json[at] !== mark) throw new Stop(at);
    at++;
  }

  /** Of `[…]` and `{…}`: calls `readOne` for each entry. */
  function readEntries(end: string, readOne: () => void): void {
    at++;
    skip();
    if (json[at] === end) {
      at++;
      return;
    }
    for (;;) {
      readOne();
      skip();
      if (json[at] === end) break;
      expect(",");
    }
    at++;
  }

  function readValue(depth: number, line: number | null): MarkedValue {
    skip();
    const start = at;
    const mark = (parts: ReadonlyMap<string | number, Mark>): Mark => ({ line: line ?? lineAt(start), parts });
    if (depth > maxDepth) throw new Stop(at, "Is nested too deeply.");
    if (json[at] === "[") {
      const items: JsonValue[] = [];
      const parts = new Map<number, Mark>();
      readEntries("]", () => {
        const item = readValue(depth + 1, null);
        parts.set(items.length, item.mark);
        items.push(item.value);
      });
      return { value: items, mark: mark(parts) };
    }
    if (json[at] === "{") {
      const members = new Map<string, JsonValue>();
      const parts = new Map<string, Mark>();
      readEntries("}", () => {
        skip();
        const nameAt = at;
        const name = readText();
        if (members.has(name)) report(nameAt, `${JSON.stringify(name)} is written twice.`);
        expect(":");
        const member = readValue(depth + 1, lineAt(nameAt));
        parts.set(name, member.mark);
        members.set(name, member.value);
      });
      return { value: Object.fromEntries(members), mark: mark(parts) };
    }
    const value = json[at] === '"' ? readText() : readWord();
    const fault = typeof value === "number" ? findNumberFault(value) : null;
    if (fault === null) return { value, mark: mark(noParts) };
    report(start, fault);
    return { value: null, mark: { ...mark(noParts), isUnread: true } };
  }

  try {
    const read = readValue(1, null);
    skip();
    return at < json.length ? stop(at) : read;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    report(error.offset, error.message);
    return null;
  }
}

class Stop extends Error {
  constructor(
    readonly offset: number,
    sentence = "Is not valid JSON from here on.",
  ) {
    super(sentence);
  }
}

function stop(offset: number): never {
  throw new Stop(offset);
}
