/** Messages and their parts: the words of them, and as much of a history as fits. */
import { expect, test } from "bun:test";
import { type HistoryMessage, selectHistory, textOf, textParts } from "../../src/domain/conversation.ts";

const said = (role: HistoryMessage["role"], ...texts: string[]): HistoryMessage => {
  return { role, parts: texts.flatMap(textParts) };
};

test("the words of a message are those of all its parts, in their order", () => {
  expect(textOf(said("user", "one"))).toBe("one");
  expect(textOf(said("assistant", "one ", "two", " three"))).toBe("one two three");
  expect(textOf({ parts: [] })).toBe("");
});

test("a part of a type that a later version brings is no text, and takes no words away", () => {
  const parts = [{ type: "tool_call", text: "not said" } as never, ...textParts("said")];
  expect(textOf({ parts })).toBe("said");
});

test("a history counts the words of all parts of a message, and begins with a user's", () => {
  const newestFirst = [said("assistant", "12345678", "1234"), said("user", "1234", "1234"), said("assistant", "1234")];
  expect(selectHistory(newestFirst, 5)).toEqual(newestFirst.slice(0, 2).reverse());
  expect(selectHistory(newestFirst, 4)).toEqual([]);
  expect(selectHistory(newestFirst, 6)).toEqual(newestFirst.slice(0, 2).reverse());
});
