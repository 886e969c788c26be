/** Until when usage is added to a day. */
import { expect, test } from "bun:test";
import { firstOpenDay, openDayOf } from "../../src/domain/usage.ts";

test("what becomes known late counts for its own day until the next has begun fourteen minutes ago", () => {
  const at = (text: string) => openDayOf("2026-01-15", Date.parse(text));
  expect(at("2026-01-15T12:00:00Z")).toBe("2026-01-15");
  expect(at("2026-01-16T00:13:59Z")).toBe("2026-01-15");
  expect(at("2026-01-16T00:14:00Z")).toBe("2026-01-16");
  expect(at("2026-01-18T00:05:00Z")).toBe("2026-01-17");
});

test("a day is over only when nothing is added to it any more", () => {
  expect(firstOpenDay(Date.parse("2026-01-16T00:14:59Z"))).toBe("2026-01-15");
  expect(firstOpenDay(Date.parse("2026-01-16T00:15:00Z"))).toBe("2026-01-16");
});
