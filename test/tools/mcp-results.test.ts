/** What the model gets of a result, and which headers repeat arguments: values alone, no server. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/domain/json.ts";
import { encodeHeaderValue, findParamHeaders, writeParamHeaders } from "../../src/engines/mcp/param-headers.ts";
import { readCallResult } from "../../src/engines/mcp/results.ts";

const text = (value: string) => ({ type: "text", text: value });

test.each<[string, JsonObject, string]>([
  ["texts", { content: [text("one"), text("two")] }, "one\ntwo"],
  ["texts before structured content", { content: [text("one")], structuredContent: { a: 1 } }, "one"],
  ["structured content without a text", { content: [], structuredContent: [1, "two"] }, '[1,"two"]'],
  ["structured content alone", { structuredContent: null }, "null"],
  ["structured content before other content", { content: [{ type: "image" }], structuredContent: 1 }, "1"],
  ["the text of a file", { content: [{ type: "resource", resource: { uri: "a:b", text: "inside" } }] }, "inside"],
  ["a file", { content: [{ type: "resource", resource: { uri: "a:b", blob: "AAAA" } }] }, "[file]"],
  ["pictures and sounds", { content: [{ type: "image", data: "AAAA" }, { type: "audio" }] }, "[image]\n[audio]"],
  ["a link", { content: [text("see"), { type: "resource_link", uri: "https://a.b/" }] }, "see\n[link: https://a.b/]"],
  [
    "what it does not know",
    { content: [{ type: "new" }, 7, { type: "text" }] },
    `${"[something that cannot be shown]\n".repeat(3)}`.trim(),
  ],
  ["nothing", { content: [] }, ""],
  ["text that is malformed", { content: [text("a\0b\ud800")] }, "a\ufffdb\ufffd"],
])("gives the model %s", (_, result, expected) => {
  expect(readCallResult({ result })).toEqual({ outcome: "done", result: expected });
});

test.each(["x", "ß", "€", "🙂"])("cuts a long result between two characters and says so: %s", (character) => {
  const answer = readCallResult({ result: { content: [text(character.repeat(20_000))] } });
  if (answer.outcome === "failed") return expect.unreachable();
  const bytes = Buffer.byteLength(answer.result);
  expect(bytes).toBeLessThanOrEqual(16 * 1024);
  expect(bytes).toBeGreaterThan(16 * 1024 - 4);
  expect(answer.result).toMatch(new RegExp(`^(?:${character})+\n\\[The rest of the result is left out\\.\\]$`, "u"));
  const fitting = "x".repeat(16 * 1024);
  expect(readCallResult({ result: { content: [text(fitting)] } })).toEqual({ outcome: "done", result: fitting });
});

test("takes what a tool says of its failure for the sentence, within bounds, and never for the reason", () => {
  const reason = "The tool reported an error.";
  const fail = (content: JsonObject[]) => readCallResult({ result: { content, isError: true } });
  expect(fail([text("No such day.")])).toEqual({ outcome: "failed", sentence: "No such day.", reason });
  expect(fail([])).toEqual({ outcome: "failed", sentence: reason, reason });
  const long = fail([text("x".repeat(5000))]);
  expect(long.outcome === "failed" && Buffer.byteLength(long.sentence)).toBe(2048);
});

const string = { type: "string" };
const mirrored = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name }) as JsonObject;
const schemaWith = (property: JsonObject, rest: JsonObject = {}): JsonObject => {
  return { type: "object", properties: { a: property }, ...rest };
};

test.each<[string, JsonObject]>([
  ["an empty name", schemaWith(mirrored(""))],
  ["a name with a space", schemaWith(mirrored("My Region"))],
  ["a name with a line end", schemaWith(mirrored("Region\r\n"))],
  ["a name that is no text", schemaWith(mirrored(1))],
  ["a number", schemaWith(mirrored("A", "number"))],
  ["an object", schemaWith(mirrored("A", "object"))],
  ["several types", schemaWith(mirrored("A", ["string", "null"]))],
  ["the root", { ...schemaWith(string), "x-mcp-header": "A" }],
  ["the same name twice", { type: "object", properties: { a: mirrored("A"), b: mirrored("a") } }],
  ["items", schemaWith({ type: "array", items: mirrored("A") })],
  ["a branch", schemaWith(string, { anyOf: [schemaWith(mirrored("A"))] })],
  ["a definition", schemaWith({ $ref: "#/$defs/a" }, { $defs: { a: mirrored("A") } })],
  ["properties within items", schemaWith({ type: "array", items: schemaWith(mirrored("A")) })],
])("allows no header for %s", (_, schema) => {
  expect(findParamHeaders(schema)).toBeNull();
});

test("repeats what is at the property's own path", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      region: mirrored("Region"),
      count: mirrored("Count", "integer"),
      isNew: mirrored("New", "boolean"),
      place: schemaWith(mirrored("Place-A")),
      "x-mcp-header": { type: "string", default: { "x-mcp-header": "no annotation" } },
    },
  };
  const args: JsonObject = { region: "us-west1", count: 42, isNew: false, place: { a: "b" }, more: "c" };
  const all = {
    "mcp-param-region": "us-west1",
    "mcp-param-count": "42",
    "mcp-param-new": "false",
    "mcp-param-place-a": "b",
  };
  expect(writeParamHeaders(schema, args)).toEqual(all);
  expect(writeParamHeaders(schema, { region: null, count: 1.5, isNew: {}, place: [] })).toEqual({});
  expect(writeParamHeaders(schema, { count: 2 ** 53 })).toEqual({});
  expect(writeParamHeaders(schemaWith(mirrored("A")), JSON.parse('{"__proto__":{"a":"b"}}'))).toEqual({});
});

// The standard's own examples, and values at the edge.
test.each([
  ["us-west1", "us-west1"],
  ["a b\tc", "a b\tc"],
  ["", ""],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  [" ", "=?base64?IA==?="],
  ["a\n", "=?base64?YQo=?="],
  ["\x7f", "=?base64?fw==?="],
])("writes %j into a header", (value, expected) => {
  expect(encodeHeaderValue(value)).toBe(expected);
});
