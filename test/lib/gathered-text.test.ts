/** Text in pieces. */
import { expect, test } from "bun:test";
import { GatheredText } from "../../src/lib/gathered-text.ts";

test("returns all pieces in order, however many there were, and accepts more afterwards", () => {
  for (const count of [0, 1, 15, 16, 17, 100]) {
    const text = new GatheredText();
    let expected = "";
    for (let index = 0; index < count; index++) {
      text.add(`${index} `);
      expected += `${index} `;
    }
    expect(text.toString()).toBe(expected);
    text.add("last");
    expect(text.toString()).toBe(`${expected}last`);
  }
});
