/** Documents are cut into passages between their parts, and nothing is lost. */
import { expect, test } from "bun:test";
import { hashDocument } from "../../src/core/knowledge/indexing/parts.ts";
import { cutIntoChunks } from "../../src/core/knowledge/passages/chunks.ts";
import type { Chunk } from "../../src/domain/knowledge.ts";
import { PiecedText } from "../../src/lib/pieced-text.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";

function cut(...pages: string[]): Chunk[] {
  return [...cutIntoChunks({ title: null, pages: pages.map((markdown, at) => ({ number: at + 1, markdown })) })];
}

const sentences = (count: number) => "The kettle holds two litres of water. ".repeat(count).trim();

/** A document of random parts, the same for the same seed. */
function makeDocument(seed: number): string {
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const parts = [
    () => `${"#".repeat(1 + random(6))} Heading ${random(100)}\n`,
    () => `${sentences(1 + random(80))}\n\n`,
    () => `- item one\n- item two\n  goes on\n  1. nested\n`,
    () => `| a | b |\n|---|---|\n${"| cell | another cell with words |\n".repeat(random(120))}`,
    () => `\`\`\`js\n${"const x = 1;\n".repeat(random(200))}\`\`\`\n`,
    () => "返品は商品到着後14日以内に限り承ります。".repeat(random(120)),
    () => "\n".repeat(random(300)),
    () => "\u3000\t \u00a0".repeat(random(100)),
    () => "𠮷👍🏽".repeat(random(900)),
    () => `~~~\nnever closed ${"x".repeat(random(5000))}\n`,
    () => "#".repeat(random(20)),
    () => "|".repeat(random(3000)),
    () => "\r\n",
  ];
  return Array.from({ length: 12 }, () => (parts[random(parts.length)] as () => string)()).join("");
}

test("every character that is no space is in exactly one passage, in order, and no passage has more than 4 kB", () => {
  for (let seed = 1; seed <= 300; seed++) {
    const markdown = makeDocument(seed);
    let covered = "";
    let from = 0;
    for (const { text, start, end, tokens, page } of cut(markdown)) {
      const part = markdown.slice(start, end);
      expect(start).toBeGreaterThanOrEqual(from);
      expect(text.endsWith(part)).toBe(true);
      expect(part.trim()).toBe(part);
      expect(text.isWellFormed()).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(4096);
      expect([tokens, page]).toEqual([Math.ceil(Buffer.byteLength(text) / 4), 1]);
      covered += part;
      from = end;
    }
    expect(covered.replace(/\s/g, "")).toBe(markdown.replace(/\s/g, ""));
  }
});

test("a text in pieces is cut as the whole, also where a piece ends within a line, a table or a pair", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const whole = Array.from({ length: 12 }, (_, at) => makeDocument(seed * 100 + at)).join("");
    const markdown = new PiecedText();
    for (let at = 0; at < whole.length; at += 9_999) markdown.add(whole.slice(at, at + 9_999));
    const pages = [{ number: 1, markdown }];
    expect([...cutIntoChunks({ title: null, pages })]).toEqual(cut(whole));
    expect(await hashDocument({ title: null, pages })).toBe(sha256Hex(whole));
  }
});

test("a text in pieces is never put together: not for a line as long as itself, whatever that may be the head of", () => {
  let longest = 0;
  class WatchedText extends PiecedText {
    override slice(start: number, end: number): string {
      longest = Math.max(longest, end - start);
      return super.slice(start, end);
    }
  }
  for (const before of ["| ", "# ", "- ", "```", "    ", ""]) {
    const markdown = new WatchedText();
    for (const piece of [before, ...Array.from({ length: 40 }, () => "a cell ".repeat(4_000)), "|\n|---|\n| 1 |\n"]) {
      markdown.add(piece);
    }
    expect([...cutIntoChunks({ title: null, pages: [{ number: 1, markdown }] })].length).toBeGreaterThan(100);
  }
  expect(longest).toBeLessThan(64 * 1024);
});

test("a passage knows the headings above it, also over the end of a page", () => {
  const chunks = cut(
    `# Guide\n\n${sentences(12)}\n\n## **Kettle** \`XK\` ##\n\n${sentences(12)}\n\n### Lid\n\n${sentences(12)}`,
    `${sentences(12)}\n\n## Toaster\n\n${sentences(12)}`,
  );
  expect(chunks.map(({ page, heading }) => [page, heading])).toEqual([
    [1, "Guide"],
    [1, "Guide > Kettle XK"],
    [1, "Guide > Kettle XK > Lid"],
    [2, "Guide > Kettle XK > Lid"],
    [2, "Guide > Toaster"],
  ]);
  expect(chunks[1]?.text).toStartWith("## **Kettle**");
});

test("short sections share a passage, under the headings that they have in common", () => {
  const chunks = cut("# Opening hours\n\n## Monday\n\n9 to 5\n\n## Tuesday\n\n10 to 4");
  expect(chunks.map(({ heading, text }) => [heading, text.includes("10 to 4")])).toEqual([["Opening hours", true]]);
});

test("a long table is divided between its rows, each part with the head", () => {
  const head = "| Size | Price |\n|------|-------|";
  const rows = Array.from({ length: 200 }, (_, at) => `| size ${at} | ${at} euros |`);
  const chunks = cut(`## Prices\n\n${head}\n${rows.join("\n")}\n\nAfter the table.`);
  expect(chunks.length).toBeGreaterThan(3);
  for (const { text } of chunks) expect(text.startsWith(head) || text.startsWith("## Prices")).toBe(true);
  const seen = chunks.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("| size")));
  expect(seen).toEqual(rows);
});

test("a long paragraph is divided between sentences, in Japanese too", () => {
  for (const { text } of cut(sentences(100))) expect(text).toEndWith("water.");
  for (const { text } of cut("返品は14日以内に承ります。".repeat(200))) expect(text).toEndWith("ます。");
});

test("code that fits stays in one passage", () => {
  const code = `\`\`\`sh\n\n# no heading\n${"run --all\n".repeat(60)}\`\`\``;
  const chunks = cut(`${sentences(25)}\n\n${code}\n\n${sentences(25)}`);
  expect(chunks.map(({ text }) => text.includes(code)).filter(Boolean)).toHaveLength(1);
  expect(chunks.map(({ heading }) => heading)).toEqual(chunks.map(() => null));
});

test("a document without text has no passages", () => {
  expect(cut("", " \n\t\n ")).toEqual([]);
});

test("the hash of a long document is that of its text, wherever it is divided for hashing", async () => {
  const pages = ["𠮷".repeat(300_000), `a${"𠮷".repeat(300_000)}`, ""].map((markdown) => ({ number: null, markdown }));
  const text = pages.map(({ markdown }) => markdown).join("\f");
  expect(await hashDocument({ title: null, pages })).toBe(sha256Hex(text));
});
