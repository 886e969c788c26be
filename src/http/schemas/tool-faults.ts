/** What is wrong with a tool that the shape of its JSON does not show. */
import type { FieldError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { isClean, isWithin } from "../../domain/metadata.ts";
import { maxParametersBytes, reservedToolNames, type ToolTarget } from "../../domain/tool.ts";
import { isFramingHeader, isHeaderName, isHeaderValue } from "../../lib/http/header-fields.ts";
import { compileSchema, SchemaFault } from "../../lib/json-schema/schema.ts";
import { maxHeaderBytes, maxHeaders, type ToolPatchBody } from "./tool-settings.ts";

/** Deeper ones would be work for whatever calls itself for each level. */
const maxParameterDepth = 32;

/** What requests to tools say themselves, beside all that begins with one of the prefixes. */
const ownHeaders: readonly string[] = ["accept", "content-type", "last-event-id"];
const ownPrefixes: readonly string[] = ["webhook-", "mcp-"];

const ofHttp = ["description", "parameters", "requires_visitor"] as const;

/** `body`: what of it has the right shape. `findUrlFault`: a sentence, or null. */
export async function findFaults(
  body: ToolPatchBody,
  kind: ToolTarget["type"],
  findUrlFault: (url: string) => string | null,
): Promise<FieldError[]> {
  const faults: FieldError[] = [];
  const { name, url, mcp_url: mcpUrl, tools, parameters, headers } = body;
  const add = (param: string, detail: string | null) => {
    if (detail !== null) faults.push({ param, detail });
  };
  if (name !== undefined && reservedToolNames.includes(name)) add("name", "This name is reserved.");
  if (url != null) add("url", findUrlFault(url));
  if (mcpUrl != null) add("mcp_url", findUrlFault(mcpUrl));
  if (kind === "mcp") {
    // What is read can be sent back.
    const foreign = ofHttp.filter((field) => body[field] != null && body[field] !== false);
    for (const field of foreign) add(field, "Only for a tool with url: an MCP server describes its tools itself.");
    if (tools != null && new Set(tools).size < tools.length) add("tools", "Names a tool twice.");
  } else {
    if (tools != null) add("tools", "Only for an MCP server.");
    if (parameters != null) add("parameters", await findParametersFault(parameters));
  }
  if (headers != null) faults.push(...listHeaderFaults(headers));
  return faults;
}

/** A sentence, or null. */
async function findParametersFault(parameters: JsonObject): Promise<string | null> {
  if (!isWithin(parameters, maxParameterDepth)) return `Must be at most ${maxParameterDepth} levels deep.`;
  if (Buffer.byteLength(JSON.stringify(parameters)) > maxParametersBytes) {
    return `Must be at most ${maxParametersBytes / 1024} KiB of UTF-8 JSON.`;
  }
  if (!isClean(parameters)) return "Must be well-formed text without NUL characters, and numbers within range.";
  if (parameters["type"] !== "object") return 'Must be the schema of an object: "type": "object".';
  try {
    await compileSchema(parameters);
    return null;
  } catch (error) {
    if (error instanceof SchemaFault) return error.message;
    throw error;
  }
}

/** By header. Values are secret: no sentence repeats one. */
function listHeaderFaults(headers: Readonly<Record<string, unknown>>): FieldError[] {
  const entries = Object.entries(headers);
  if (entries.length > maxHeaders) return [{ param: "headers", detail: `Must be at most ${maxHeaders} headers.` }];
  const bytes = entries.reduce(
    (sum, [name, value]) => sum + name.length + (typeof value === "string" ? value.length : 0),
    0,
  );
  if (bytes > maxHeaderBytes) {
    return [{ param: "headers", detail: `Must be at most ${maxHeaderBytes / 1024} KiB in all.` }];
  }
  const seen = new Set<string>();
  const faults: FieldError[] = [];
  for (const [name, value] of entries) {
    const folded = name.toLowerCase();
    const detail = seen.has(folded) ? "Appears twice, in different case." : findHeaderFault(name, value);
    seen.add(folded);
    // A name that is none may be a value entered as a name.
    if (detail !== null) faults.push({ param: isHeaderName(name) ? `headers.${name}` : "headers", detail });
  }
  return faults;
}

function findHeaderFault(name: string, value: unknown): string | null {
  const folded = name.toLowerCase();
  if (!isHeaderName(name)) return "Is not a valid header name.";
  const isOwn = ownHeaders.includes(folded) || ownPrefixes.some((prefix) => folded.startsWith(prefix));
  if (isFramingHeader(name) || isOwn) return "Is set by the server itself.";
  return typeof value === "string" && isHeaderValue(value) ? null : "Must be one line of printable ASCII.";
}
