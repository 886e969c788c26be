/** Which tool the demo calls: the one whose name or description shares most words with the message, each once a turn. */
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { AnsweredCall, AskedCall } from "../../domain/tool.ts";
import { wordsOf } from "./passages.ts";

/** Schemas may refer to themselves, more than once. */
const maxValues = 200;

export function listAnswered({ rounds = [] }: Pick<ReplyRequest, "rounds">): AnsweredCall[] {
  return rounds.flatMap(({ calls }) => calls);
}

/** Null where no tool fits that has not been called. */
export function chooseCall(request: Pick<ReplyRequest, "tools" | "rounds">, message: string): AskedCall | null {
  const { tools = [], rounds = [] } = request;
  const asked = wordsOf(message);
  const called = new Set(listAnswered(request).map(({ name }) => name));
  let best: AskedCall | null = null;
  let bestShared = 0;
  for (const { name, description, parameters } of tools) {
    const shared = [...wordsOf(`${name} ${description}`)].filter((word) => asked.has(word)).length;
    if (called.has(name) || shared <= bestShared) continue;
    best = {
      id: `call_demo${rounds.length + 1}`,
      name,
      arguments: JSON.stringify(fill(parameters, { root: parameters, left: maxValues })),
    };
    bestShared = shared;
  }
  return best;
}

interface Filling {
  readonly root: JsonObject;
  /** How many values may follow. */
  left: number;
}

/** What the schema itself suggests, or else a plain value of its type. */
function fill(schema: JsonObject, filling: Filling): JsonValue {
  const { $ref: ref, default: usual, const: only, examples, enum: choices, type, properties, required } = schema;
  for (const value of [usual, only, first(examples), first(choices)]) if (value !== undefined) return value;
  if (filling.left-- <= 0) return null;
  if (typeof ref === "string") return fill(resolve(ref, filling.root), filling);
  const choice = [schema.anyOf, schema.oneOf, schema.allOf].map(first).find(isJsonObject);
  if (choice !== undefined) return fill(choice, filling);
  if (type !== "object" && (type !== undefined || !isJsonObject(properties))) return plainValue(schema);
  const filled: JsonObject = {};
  for (const name of Array.isArray(required) ? required : []) {
    const property = isJsonObject(properties) ? properties[String(name)] : undefined;
    filled[String(name)] = fill(isJsonObject(property) ? property : {}, filling);
  }
  return filled;
}

function plainValue({ type, format, minimum }: JsonObject): JsonValue {
  switch (Array.isArray(type) ? type[0] : type) {
    case "integer":
    case "number":
      return typeof minimum === "number" ? minimum : 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "null":
      return null;
    default:
      return formats[String(format)] ?? "example";
  }
}

const formats: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  time: "12:00:00Z",
  "date-time": "2026-01-31T12:00:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
};

function first(values: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(values) ? values[0] : undefined;
}

/** A pointer within the schema. */
function resolve(ref: string, root: JsonObject): JsonObject {
  let at: JsonValue | undefined = root;
  for (const step of ref.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    at = isJsonObject(at) ? at[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return isJsonObject(at) ? at : {};
}
