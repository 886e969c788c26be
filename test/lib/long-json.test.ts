/** JSON with long texts is parsed as `JSON.parse` does, in pieces. */
import { expect, test } from "bun:test";
import { LongText, parseLongJson } from "../../src/lib/long-json.ts";
import { createRandom } from "../support/random.ts";

const most = 1024 * 1024;
/** Longer than what stays a string. */
const length = 70_000;

/** With texts again in place of what stands for them. */
async function parse(json: string | Uint8Array): Promise<unknown> {
  const value = await parseLongJson(Buffer.from(json), most);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    field instanceof LongText ? textOf(field) : field,
  ]);
  return Object.fromEntries(entries);
}

const textOf = ({ bytes }: LongText) => Buffer.from(bytes).toString();

test("only long texts are cut out, whatever stands around them", async () => {
  const long = "x".repeat(length);
  const json = ` { "a" : "${long}", "b": ["\\"", {"c": null}], "": "${long}y" , "d":"\\u00e9" } `;
  const value = (await parseLongJson(Buffer.from(json), most)) as Record<string, unknown>;
  expect(value["a"]).toBeInstanceOf(LongText);
  expect(await parse(json)).toEqual(JSON.parse(json));
  const short = '{"a":"b","__proto__":1}';
  expect(JSON.stringify(await parse(short))).toBe(short);
  for (const other of ["[1]", "null", "12", '"text"']) expect(await parse(other)).toEqual(JSON.parse(other));
  expect(await parse(`\ufeff${short}`)).toEqual(JSON.parse(short));
});

test("texts of any characters and escapes are cut between two of them", async () => {
  const { below, pick } = createRandom(20_261_127);
  const parts = ["a", " ", '"', "\\", "\n", "\u0001", "é", "漢", "😀", "\u2028", "/"] as const;
  for (let round = 0; round < 20; round++) {
    // Every second time one alone, which is then at every place where a text may be cut.
    const only = pick(parts);
    const make = () => (round % 2 === 0 ? only : pick(parts));
    const text = Array.from({ length: length + below(20) }, make).join("");
    const plain = JSON.stringify({ first: "1", text, last: true });
    const escaped = plain.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    for (const json of [plain, escaped]) expect(await parse(json)).toEqual({ first: "1", text, last: true });
  }
});

test("what is no JSON, or no UTF-8, is refused as by JSON.parse", async () => {
  const long = "x".repeat(length);
  const broken = [
    `{"a":"${long}`,
    `{"a":"${long}\n"}`,
    `{"a":"${long}\\u12"}`,
    `{"a":"${long}\\x"}`,
    `{"a":"${long}",}`,
  ];
  for (const json of [...broken, `"${long}" 1`, `{"a":"${long}"b}`, "", "{"]) {
    expect(parse(json)).rejects.toThrow(SyntaxError);
  }
  const bytes = Buffer.from(`{"a":"${long}"}`);
  bytes[length - 9] = 0xff;
  expect(parse(bytes)).rejects.toThrow(TypeError);
});

test("a text with NUL or half a pair stays a string that shows it", async () => {
  for (const fault of ["\\u0000", "\\ud83d", "\\ude00"]) {
    const value = (await parse(`{"a":"${"x".repeat(length)}${fault}${"y".repeat(length)}"}`)) as { a: string };
    expect(value.a).toContain(JSON.parse(`"${fault}"`));
  }
});

test("more than it may have beside long texts is not parsed", async () => {
  const numbers = `[${"0,".repeat(most / 2)}0]`;
  expect(await parseLongJson(Buffer.from(numbers), most)).toBeNull();
  expect(await parseLongJson(Buffer.from(`{"a":"${"x".repeat(length)}","b":${numbers}}`), most)).toBeNull();
  expect(await parseLongJson(Buffer.from(`[${'"x",'.repeat(most / 4)}1]`), most)).toBeNull();
});
