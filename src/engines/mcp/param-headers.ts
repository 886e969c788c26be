/** Headers that repeat arguments of a call (`x-mcp-header` of MCP 2026-07-28), for what stands before a server. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

interface ParamHeader {
  /** In lower case. */
  readonly name: string;
  /** The names of the properties that lead to the argument. */
  readonly path: readonly string[];
}

const annotation = "x-mcp-header";
/** A token (RFC 9110, section 5.6.2). */
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const mirroredTypes: readonly JsonValue[] = ["string", "integer", "boolean"];
/** Their values are data, in which such a name means nothing. */
const dataKeywords: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** Null if an annotation breaks a rule: the tool must then not be offered. */
export function findParamHeaders(schema: JsonObject): readonly ParamHeader[] | null {
  const found: ParamHeader[] = [];
  return visit(schema, [], found) ? found : null;
}

/** `path` is null where not only `properties` lead to it: no annotation may be there. */
function visit(node: JsonValue, path: readonly string[] | null, found: ParamHeader[]): boolean {
  if (Array.isArray(node)) return node.every((item) => visit(item, null, found));
  if (!isJsonObject(node)) return true;
  const name = node[annotation];
  if (name !== undefined) {
    if (path === null || path.length === 0 || typeof name !== "string" || !namePattern.test(name)) return false;
    const header = { name: `mcp-param-${name.toLowerCase()}`, path };
    if (!mirroredTypes.includes(node["type"] ?? null) || found.some((other) => other.name === header.name))
      return false;
    found.push(header);
  }
  return Object.entries(node).every(([keyword, value]) => {
    if (dataKeywords.has(keyword)) return true;
    if (keyword !== "properties" || !isJsonObject(value)) return visit(value, null, found);
    return Object.entries(value).every(([key, property]) => visit(property, path && [...path, key], found));
  });
}

/** None for arguments that are not there. */
export function writeParamHeaders(schema: JsonObject, args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, path } of findParamHeaders(schema) ?? []) {
    let value: JsonValue | undefined = args;
    for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    const isWritten = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
    if (isWritten) headers[name] = encodeHeaderValue(String(value));
  }
  return headers;
}

/** As it is, or in Base64 where it could end the line, lose a space at its ends, or pass for Base64. */
export function encodeHeaderValue(value: string): string {
  const isPlain = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}
