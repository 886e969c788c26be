/** The tools that a server lists, page by page: those that can be offered, within bounds. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { maxParametersBytes, type OfferedTool } from "../../domain/tool.ts";
import { compileSchema, SchemaFault } from "../../lib/json-schema/schema.ts";
import { Slices } from "../../lib/pause.ts";
import { failReply, failures } from "./failures.ts";
import type { Failure, Message, Reply } from "./messages.ts";
import { findParamHeaders } from "./param-headers.ts";
import { cleanText } from "./results.ts";

const maxListedTools = 128;
const maxPages = 32;
/** Of all pages; the last may go beyond. */
const maxListBytes = 1024 * 1024;
const maxCursorUnits = 4096;
const maxDescriptionUnits = 4096;
/** Where the server does not declare how long its list is valid, and at most. */
const usualFreshMs = 5 * 60_000;
const maxFreshMs = 60 * 60_000;
/** The standard's, for names; what is longer or has other characters is known to break clients. */
const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;

export interface ToolList {
  readonly kind: "listed";
  readonly tools: readonly OfferedTool[];
  /** Of the tools as JSON, about. */
  readonly bytes: number;
  readonly freshMs: number;
  /** What of the list is not offered, and why. */
  readonly passedOver: readonly string[];
}

/** `ask` resolves with the page after the cursor. What is listed when a bound is reached is offered. */
export async function readToolList(
  ask: (message: Message) => Promise<Reply>,
  monotonicMs: () => number,
): Promise<ToolList | { readonly kind: "failed"; readonly failure: Failure }> {
  const tools = new Map<string, OfferedTool>();
  const passedOver: string[] = [];
  const slices = new Slices();
  let freshUntilMs = Infinity;
  let bytes = 0;
  let keptBytes = 0;
  let cursor: string | null = null;
  for (let page = 0; page < maxPages && bytes <= maxListBytes; page++) {
    const reply = await ask({ method: "tools/list", params: cursor === null ? {} : { cursor } });
    if (reply.kind !== "result") return { kind: "failed", failure: failReply(reply) };
    const { tools: listed, nextCursor, resultType = "complete", ttlMs } = reply.result;
    if (!Array.isArray(listed) || resultType !== "complete") return { kind: "failed", failure: failures.garbled };
    freshUntilMs = Math.min(freshUntilMs, monotonicMs() + readFreshMs(ttlMs));
    bytes += reply.bytes;
    for (const entry of listed) {
      if (tools.size === maxListedTools || passedOver.length === maxListedTools) {
        passedOver.push(`what follows ${maxListedTools} others`);
        break;
      }
      if (slices.isOver) await slices.pause();
      const tool = await readTool(entry, tools);
      if (typeof tool === "string") {
        passedOver.push(tool);
        continue;
      }
      tools.set(tool.name, tool);
      keptBytes += JSON.stringify(tool).length;
    }
    if (typeof nextCursor !== "string" || nextCursor.length > maxCursorUnits || tools.size >= maxListedTools) break;
    cursor = nextCursor;
  }
  const freshMs = Math.max(0, freshUntilMs - monotonicMs());
  return { kind: "listed", tools: [...tools.values()], bytes: keptBytes, freshMs, passedOver };
}

/** Each page has a time of its own, and the whole is as old as its first to end. */
function readFreshMs(ttlMs: JsonValue | undefined): number {
  return typeof ttlMs === "number" ? Math.min(Math.max(0, ttlMs), maxFreshMs) : usualFreshMs;
}

/** Why it cannot be offered, if it cannot. */
async function readTool(entry: JsonValue, before: ReadonlyMap<string, OfferedTool>): Promise<OfferedTool | string> {
  if (!isJsonObject(entry)) return "an entry that is no tool";
  const { name, description, inputSchema } = entry;
  if (typeof name !== "string" || !namePattern.test(name)) return "a name that models cannot call";
  if (before.has(name)) return `${name}: the name is there already`;
  if (!isJsonObject(inputSchema) || inputSchema["type"] !== "object") return `${name}: its schema is not of an object`;
  if (Buffer.byteLength(JSON.stringify(inputSchema)) > maxParametersBytes) return `${name}: its schema is too long`;
  if (!(await canBeChecked(inputSchema))) return `${name}: its schema is not valid, or cannot be checked`;
  if (findParamHeaders(inputSchema) === null) return `${name}: its x-mcp-header is not valid`;
  const text = typeof description === "string" ? cleanText(description.slice(0, maxDescriptionUnits)) : "";
  return { name, description: text, parameters: inputSchema };
}

/** Its arguments are checked before each call; the fault itself would quote the server. */
async function canBeChecked(schema: JsonObject): Promise<boolean> {
  try {
    await compileSchema(schema);
    return true;
  } catch (error) {
    if (error instanceof SchemaFault) return false;
    throw error;
  }
}

/** The schema of one of them, empty where it is not listed. */
export function schemaOf(tools: readonly OfferedTool[], name: string): JsonObject {
  return tools.find((tool) => tool.name === name)?.parameters ?? {};
}
