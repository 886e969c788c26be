/** What a tool takes, while it is edited: as rows, or as the JSON Schema that it is. */
import { isObject, type JsonObject, type ReadObject, readJsonObject } from "../lib/json-text.ts";
import type { Json } from "../lib/types.ts";

export interface ParameterRow {
  name: string;
  type: string;
  description: string;
  isRequired: boolean;
}

export interface ParametersDraft {
  mode: "rows" | "json";
  rows: readonly ParameterRow[];
  json: string;
}

export const parameterTypes = [
  { value: "string", label: "Text" },
  { value: "number", label: "Number" },
  { value: "integer", label: "Whole number" },
  { value: "boolean", label: "Yes or no" },
] as const;

export const emptyRow: ParameterRow = { name: "", type: "string", description: "", isRequired: true };

/** Beyond what rows express: choices, a pattern, bounds. */
export const exampleParameters: JsonObject = {
  type: "object",
  properties: {
    number: { type: "string", pattern: "^[0-9]{6}$", description: "Of the order: six digits, on the invoice." },
    language: { type: "string", enum: ["en", "de"] },
    parcels: { type: "integer", minimum: 1, maximum: 20 },
  },
  required: ["number"],
};

/** Rows, where they express the whole schema. */
export function toParametersDraft(schema: JsonObject): ParametersDraft {
  const json = JSON.stringify(schema, null, 2);
  const rows = toRows(schema);
  return rows === null ? { mode: "json", rows: [], json } : { mode: "rows", rows, json };
}

/** The schema, or why there is none. */
export function readParameters(draft: ParametersDraft): ReadObject {
  if (draft.mode === "rows") return readRows(draft.rows);
  if (draft.json.trim() === "") return { value: toSchema([]) };
  const read = readJsonObject(draft.json);
  if ("problem" in read || read.value.type === "object") return read;
  return { problem: 'Must be the schema of an object: "type": "object".' };
}

/** Whether rows can express all of it. */
export function hasRows(draft: ParametersDraft): boolean {
  const read = readParameters(draft);
  return "value" in read && toRows(read.value) !== null;
}

/** The same in the other form, as far as it can be read and expressed there. */
export function switchMode(draft: ParametersDraft): ParametersDraft {
  const read = readParameters(draft);
  if ("problem" in read) return draft;
  const next = toParametersDraft(read.value);
  return draft.mode === "rows" ? { ...next, mode: "json" } : next;
}

/** Arguments to begin a try with: a value of each kind, or one that the schema names. */
export function sampleOf(schema: Json | undefined): Json {
  if (!isObject(schema)) return "";
  const { properties, examples, enum: choices, default: usual, const: only } = schema;
  for (const known of [only, usual, firstOf(examples), firstOf(choices)]) if (known !== undefined) return known;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "number" || type === "integer") return typeof schema.minimum === "number" ? schema.minimum : 0;
  if (type === "boolean") return false;
  if (type === "array") return [];
  if (type !== "object") return type === "null" ? null : "";
  const parts = isObject(properties) ? Object.entries(properties) : [];
  return Object.fromEntries(parts.map(([name, part]) => [name, sampleOf(part)]));
}

function firstOf(values: Json | undefined): Json | undefined {
  return Array.isArray(values) ? values[0] : undefined;
}

function readRows(rows: readonly ParameterRow[]): ReadObject {
  const named = rows.filter(({ name, description }) => name.trim() !== "" || description.trim() !== "");
  const names = named.map(({ name }) => name.trim());
  if (names.includes("")) return { problem: "Give every parameter a name." };
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) return { problem: `Two parameters are called “${twice}”.` };
  return { value: toSchema(named) };
}

function toSchema(rows: readonly ParameterRow[]): JsonObject {
  const properties = rows.map(({ name, type, description }) => {
    const words = description.trim();
    return [name.trim(), words === "" ? { type } : { type, description: words }];
  });
  const required = rows.filter(({ isRequired }) => isRequired).map(({ name }) => name.trim());
  const schema: JsonObject = { type: "object", properties: Object.fromEntries(properties) };
  return required.length === 0 ? schema : { ...schema, required };
}

/** Null for a schema that rows cannot express. */
function toRows(schema: JsonObject): ParameterRow[] | null {
  const { properties = {}, required = [] } = schema;
  if (!isObject(properties) || !Array.isArray(required)) return null;
  const rows = Object.entries(properties).map(([name, part]) => {
    const { type, description = "" } = isObject(part) ? part : {};
    return { name, type: String(type), description: String(description), isRequired: required.includes(name) };
  });
  const isKnown = rows.every(({ type }) => parameterTypes.some(({ value }) => value === type));
  return isKnown && isSame(toSchema(rows), { ...schema, properties, required }) ? rows : null;
}

/** Whatever the order of names, and of what is required. */
function isSame(one: JsonObject, other: JsonObject): boolean {
  return sorted({ required: [], ...one }) === sorted(other);
}

function sorted(schema: JsonObject): string {
  return JSON.stringify(schema, (name, value: Json) => {
    if (name === "required" && Array.isArray(value)) return value.toSorted();
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
