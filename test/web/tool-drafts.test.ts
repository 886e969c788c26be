/** What the dashboard makes of a tool while it is edited: parameters as rows or JSON, headers, faults with their place. */
import { expect, test } from "bun:test";
import { readJsonObject } from "../../src/web/dashboard/lib/json-text.ts";
import type { Tool } from "../../src/web/dashboard/lib/types.ts";
import {
  exampleParameters,
  hasRows,
  readParameters,
  sampleOf,
  switchMode,
  toParametersDraft,
} from "../../src/web/dashboard/tools/parameters-draft.ts";
import {
  findToolChanges,
  findToolProblems,
  toToolBody,
  toToolDraft,
} from "../../src/web/dashboard/tools/tool-draft.ts";

test.each([
  ["{", 'line 1, column 2: a name in "quotes" is expected'],
  ['{"a": 1', "line 1, column 8: a comma or } is expected"],
  ['{"a": 1,}', 'line 1, column 9: a name in "quotes" is expected'],
  ['{\n  "a" 1\n}', "line 2, column 7: a colon is expected"],
  ['{"a": [1 2]}', "line 1, column 10: a comma or ] is expected"],
  ['{"a": yes}', "line 1, column 7: a value is expected"],
  ['{"a": "b\n"}', "line 1, column 7: a value is expected"],
  ['{"a": 01}', "line 1, column 8: a comma or } is expected"],
  ["{} {}", "line 1, column 4: nothing more is expected"],
])("finds the place where %p stops being JSON", (text, fault) => {
  expect(readJsonObject(text)).toEqual({ problem: `Not JSON yet: ${fault}.` });
});

test("agrees with the browser on what JSON is, and bounds how deep it looks", () => {
  const deep = { problem: "Not JSON yet: line 1, column 501: it is nested too deeply." };
  expect(readJsonObject("[".repeat(100_000))).toEqual(deep);
  const texts = ['{"a": {"b": [null, true, false, -1.5e3, "\\u00e9\\n"]}}', "", "  ", "[]", "1", '"a"', "null"];
  for (const text of texts) expect(JSON.stringify(readJsonObject(text))).not.toContain("Not JSON yet");
});

test("rows say what they can, whatever the order, and leave every other schema to JSON", () => {
  const number = { type: "string", description: "Six digits." };
  const rows = { required: ["count", "number"], properties: { number, count: { type: "integer" } }, type: "object" };
  const draft = toParametersDraft(rows);
  expect(draft).toMatchObject({ mode: "rows", rows: [{ name: "number", isRequired: true }, { name: "count" }] });
  expect(readParameters(draft)).toEqual({ value: { ...rows, required: ["number", "count"] } });
  expect(readParameters(switchMode(draft))).toEqual(readParameters(draft));
  for (const other of [
    { properties: {}, type: "object", additionalProperties: false },
    { type: "object", properties: { a: { type: "string", enum: ["b"] } } },
    { type: "object", properties: { a: { type: ["string", "null"] } } },
    { type: "object", properties: { a: true } },
    { type: "object", properties: { a: { type: "string", description: " spaced " } } },
    { type: "object", properties: {}, required: ["a"] },
    exampleParameters,
  ]) {
    const kept = toParametersDraft(other);
    expect(kept.mode).toBe("json");
    expect(hasRows(kept)).toBe(false);
    expect(readParameters(kept)).toEqual({ value: other });
  }
});

test("names of rows are there and differ, empty rows are none, and a schema is of an object", () => {
  const row = { name: "a", type: "string", description: "", isRequired: false };
  const of = (...rows: (typeof row)[]) => readParameters({ mode: "rows", rows, json: "" });
  expect(of(row, { ...row, name: " a " })).toEqual({ problem: "Two parameters are called “a”." });
  expect(of({ ...row, name: "", description: "x" })).toEqual({ problem: "Give every parameter a name." });
  expect(of({ ...row, name: " " })).toEqual({ value: { type: "object", properties: {} } });
  expect(readParameters({ mode: "json", rows: [], json: "" })).toEqual({ value: { type: "object", properties: {} } });
  expect(readParameters({ mode: "json", rows: [], json: "{}" })).toHaveProperty("problem");
});

test("a try begins with a value of each kind, or one that the schema names", () => {
  expect(sampleOf(exampleParameters)).toEqual({ number: "", language: "en", parcels: 1 });
  const properties = {
    a: { const: null },
    b: { type: ["integer", "null"] },
    c: { examples: ["x"] },
    d: { type: "array" },
  };
  expect(sampleOf({ type: "object", properties })).toEqual({ a: null, b: 0, c: "x", d: [] });
});

const tool: Tool = {
  ...{
    id: "t",
    companion_id: "c",
    name: "find_order",
    title: "find_order",
    description: "Finds.",
    url: "https://a.example",
  },
  ...{ parameters: { type: "object", properties: {} }, mcp_url: null, tools: null, header_names: ["X-Shop"] },
  ...{ timeout_ms: 10_000, confirm: false, requires_visitor: false, created_at: "", updated_at: "" },
};

test("headers are left as they are unless they are replaced, and a title without one of its own follows the name", () => {
  const draft = toToolDraft(tool);
  expect(toToolBody(draft)).not.toHaveProperty("headers");
  expect(toToolBody({ ...draft, headers: [] })).toMatchObject({ headers: {} });
  expect(toToolBody({ ...draft, headers: [{ name: " X ", value: " 1 " }] })).toMatchObject({ headers: { X: "1" } });
  expect(findToolProblems({ ...draft, headers: [{ name: "X", value: "" }] })).toHaveProperty("headers");
  expect(findToolProblems({ ...draft, headers: [{ name: "", value: "" }] })).toEqual({});
  expect(toToolBody({ ...draft, name: "look_up" })).toMatchObject({ name: "look_up", title: "look_up" });
  expect(findToolChanges(tool, { ...tool, header_names: [], confirm: true })).toEqual(["confirmation", "headers"]);
});

test("an MCP server is sent neither parameters nor whom they are for, and its tools a line each", () => {
  const draft = { ...toToolDraft(null), kind: "mcp_url" as const, name: "shop", address: "shop.example/mcp" };
  const body = {
    name: "shop",
    title: "shop",
    mcp_url: "https://shop.example/mcp",
    timeout_ms: 10_000,
    headers: {},
    confirm: false,
  };
  expect(toToolBody(draft)).toEqual({ ...body, tools: null });
  expect(toToolBody({ ...draft, tools: " add \n\norder" })).toEqual({ ...body, tools: ["add", "order"] });
  expect(findToolProblems({ ...draft, seconds: "0,5", name: "Shop" })).toEqual({
    name: "Use a-z, 0-9 and _ only, up to 64 characters.",
    timeout_ms: "From 0.1 to 20 seconds.",
  });
});
