/** What the dashboard tells while someone types, held against what the server takes. */
import { expect, test } from "bun:test";
import { estimateTokens } from "../../src/domain/conversation.ts";
import { normalizeOrigin } from "../../src/domain/origin.ts";
import { readableTextColor } from "../../src/lib/contrast.ts";
import { judgeColor } from "../../src/web/dashboard/appearance/appearance-draft.ts";
import { readMetadata, switchMode, toMetadataDraft } from "../../src/web/dashboard/companion/metadata-draft.ts";
import { originProblem, splitOrigins } from "../../src/web/dashboard/companion/origins.ts";
import { toVisitorPath } from "../../src/web/dashboard/conversations/visitor-path.ts";
import { textColorOn } from "../../src/web/dashboard/lib/color.ts";
import { estimateTokens as estimateShown, formatRelative } from "../../src/web/dashboard/lib/format.ts";
import { toMergePatch } from "../../src/web/dashboard/versions/merge-patch.ts";

test.each([
  "https://shop.example",
  "HTTPS://Shop.Example:8443/",
  "http://localhost:3000",
  "https://*.shop.example",
  "https://[::1]:8080",
  "https://bücher.example",
  "shop.example",
  "ftp://shop.example",
  "https://",
  "https://shop.example/path",
  "https://shop.example?x",
  "https://*",
  "https://*.",
  "https://shop.*.example",
  "https://user@shop.example",
  "https://shop.example:99999",
  "https://a b.example",
  "https://a;b.example",
  "https://a,b",
  "https://a_b.example",
  "*",
  "null",
  `https://${"a.".repeat(126)}a`,
  `https://${"a.".repeat(126)}ab`,
  `https://*.${"a.".repeat(125)}a:65535/`,
  `https://*.${"a.".repeat(125)}ab`,
  `http://[${"0".repeat(300)}::1]`,
  `https://shop.example/${"x".repeat(300)}`,
])("judges the origin %p as the server does", (text) => {
  expect(originProblem(text) === null).toBe(normalizeOrigin(text) !== null);
});

test("websites are taken without their scheme, and names that are none are left to be refused", () => {
  const typed = "shop.example, *.shop.example\nlocalhost:3000\nvelo-berta\nhttp://intranet";
  const read = splitOrigins(typed);
  expect(read).toEqual([
    ...["https://shop.example", "https://*.shop.example", "http://localhost:3000", "velo-berta", "http://intranet"],
  ]);
  expect(read.filter((origin) => originProblem(origin) !== null)).toEqual(["velo-berta"]);
});

test("takes metadata apart into fields, and puts it together unchanged", () => {
  const metadata = { plan: "pro", id: 42, ok: true, none: null, list: ["a", 1], deep: { a: { "b.c": "d" } }, "": "x" };
  const { "": _, ...named } = metadata;
  const draft = toMetadataDraft(named);
  expect(readMetadata(draft)).toEqual({ value: named });
  expect(readMetadata(switchMode(draft))).toEqual({ value: named });
  expect(switchMode(switchMode(draft))).toEqual(draft);
  expect(draft.rows[1]).toEqual({ key: "id", kind: "json", value: "42" });
});

test("says what keeps metadata from being metadata", () => {
  const row = (key: string, value: string, kind: "text" | "json" = "text") => ({ key, kind, value });
  const read = (...rows: ReturnType<typeof row>[]) => readMetadata({ mode: "rows", rows, json: "" });
  expect(read(row("a", "1"), row("a", "2"))).toEqual({ problem: "The key “a” is there twice." });
  expect(read(row("", "1"))).toEqual({ problem: "The value “1” has no key." });
  expect(read(row("a", "{", "json"))).toMatchObject({ problem: expect.stringContaining("“a” is not JSON") });
  expect(read(row("a", "x".repeat(17_000)))).toEqual({ problem: "Larger than 16 KiB." });
  expect(read(row("", ""), row("__proto__", "1"))).toEqual({ value: JSON.parse('{"__proto__":"1"}') });
  for (const json of ["[1]", "1", "null", "{"]) {
    expect(readMetadata({ mode: "json", rows: [], json })).toHaveProperty("problem");
  }
});

test("names the colour of text that visitors will see, and warns of colours that vanish", () => {
  for (const color of ["#4f46e5", "#ffffff", "#000000", "#808080", "#0f766e", "#facc15", "#767676"]) {
    expect(textColorOn(color)).toBe(readableTextColor(color));
  }
  expect(judgeColor("#4f46e5")).toEqual({ text: "White text on it reads well (contrast 6.3:1).", isWarning: false });
  expect(judgeColor("#fffde7")?.isWarning).toBe(true);
  expect(judgeColor("#050505")?.isWarning).toBe(true);
  expect(judgeColor("red")).toBeNull();
});

test("estimates tokens as the server does", () => {
  for (const text of ["", "Hello", "Grüße aus Köln", "😀".repeat(7)])
    expect(estimateShown(text)).toBe(estimateTokens(text));
});

test("formats times as people say them", () => {
  const now = Date.parse("2026-06-15T12:00:00Z");
  const tell = (iso: string) => formatRelative(iso, now);
  expect(tell("2026-06-15T11:59:30Z")).toBe("just now");
  expect(tell("2026-06-15T11:58:00Z")).toBe("2 minutes ago");
  expect(tell("2026-06-15T09:00:00Z")).toBe("3 hours ago");
  expect(tell("2026-06-14T12:00:00Z")).toBe("yesterday");
  expect(tell("2026-09-13T12:00:00Z")).toBe("in 3 months");
});

test("erases a visitor by any name but one that browsers take for a way up", () => {
  const resolve = (name: string) => new URL(toVisitorPath("c", name), "http://localhost").pathname;
  for (const name of ["customer/42", "a?b#c", "../..", "%2e%2e", "...", "Zoë 李"]) {
    expect(resolve(name)).toBe(`/api/companions/c/visitors/${encodeURIComponent(name)}`);
  }
  for (const name of ["", ".", ".."]) expect(() => resolve(name)).toThrow("cannot be erased here");
});

test("what a draft makes of metadata is merged into what is live: what is gone is null there", () => {
  const live = { plan: "pro", user: { id: 1, tags: ["a"] }, old: true };
  const wanted = { plan: "pro", user: { id: 2 }, list: [1] };
  expect(toMergePatch(live, wanted)).toEqual({ old: null, user: { id: 2, tags: null }, list: [1] });
  expect(toMergePatch(live, live)).toEqual({});
});
