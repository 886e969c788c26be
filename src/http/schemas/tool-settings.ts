/** What owners set of tools on the wire: routes of tools, and all that writes companions as a whole. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { JsonObject } from "../../domain/json.ts";
import { type Tool, toolNamePattern, toolTimeoutMs } from "../../domain/tool.ts";
import { maxUrlLength } from "../../lib/http/target.ts";
import { nameText } from "./name.ts";
import { compileChecker, Nullable, Text } from "./schema.ts";

export const maxHeaders = 20;
export const maxHeaderBytes = 8 * 1024;
const maxOffered = 128;

/** What a tool without parameters takes. */
export const noParameters: JsonObject = { type: "object", properties: {} };

const makeName = () =>
  Text({
    pattern: toolNamePattern.source,
    problem: "Must be 1 to 64 of the characters a-z, 0-9 and _.",
    description:
      "What the model calls it, unique in the companion. For an MCP server: what the names of its tools begin with, as " +
      "`<name>_<tool>`.",
    examples: ["find_order"],
  });

function makeSettings() {
  const url = { minLength: 1, maxLength: maxUrlLength };
  return {
    title: t.Optional(Nullable(nameText("What people see; by default the name.", "Find an order"))),
    description: t.Optional(
      Nullable(
        Text({
          maxLength: 1024,
          description: "For a tool with `url`: what the tool does and when to use it, for the model.",
          examples: ["Finds an order by its number, and returns its status."],
        }),
      ),
    ),
    parameters: t.Optional(
      Nullable(
        t.Unsafe<JsonObject>(
          t.Object(
            {},
            {
              additionalProperties: true,
              description:
                "For a tool with `url`: a JSON Schema of an object, at most 8 KiB, with `$ref` only within it. Default: no " +
                "parameters. Arguments are checked against it before the call.",
              examples: [
                {
                  type: "object",
                  properties: { number: { type: "string", pattern: "^[0-9]+$" } },
                  required: ["number"],
                },
              ],
            },
          ),
        ),
      ),
    ),
    url: t.Optional(
      Nullable(
        Text({
          ...url,
          description: "Where calls are sent, https; either this or `mcp_url`.",
          examples: ["https://shop.example/companion/orders"],
        }),
      ),
    ),
    mcp_url: t.Optional(
      Nullable(
        Text({
          ...url,
          description: "An MCP server, https, whose tools the model is offered.",
          examples: ["https://shop.example/mcp"],
        }),
      ),
    ),
    tools: t.Optional(
      Nullable(
        t.Array(Text({ minLength: 1, maxLength: 128 }), {
          minItems: 1,
          maxItems: maxOffered,
          description: "For an MCP server: only these of its tools, by its own names. Default: all.",
          examples: [["search_catalogue"]],
        }),
      ),
    ),
    headers: t.Optional(
      Nullable(
        t.Unsafe<Record<string, string>>(
          t.Object(
            {},
            {
              additionalProperties: t.String(),
              description:
                `Sent with every request to it, at most ${maxHeaders} with ${maxHeaderBytes / 1024} KiB in all; stored ` +
                "encrypted, and never shown again. They are replaced as a whole.",
              examples: [{ Authorization: "Bearer 0f1e2d" }],
            },
          ),
        ),
      ),
    ),
    timeout_ms: t.Optional(
      Nullable(
        t.Integer({
          minimum: toolTimeoutMs.least,
          maximum: toolTimeoutMs.most,
          description: `How long a call may take, including a second attempt. Default: ${toolTimeoutMs.usual}.`,
          examples: [5000],
        }),
      ),
    ),
    confirm: t.Optional(
      Nullable(
        t.Boolean({
          description: "Asks the visitor before each call. It is offered only where the visitor can be asked.",
        }),
      ),
    ),
    requires_visitor: t.Optional(
      Nullable(t.Boolean({ description: "For a tool with `url`: it is offered only to verified visitors." })),
    ),
  };
}

const closed = { additionalProperties: false };
export const newToolBody = compileChecker(() =>
  t.Object({ name: makeName(), ...makeSettings() }, { $id: "NewTool", ...closed }),
);
export const toolPatchBody = compileChecker(() =>
  t.Object({ name: t.Optional(makeName()), ...makeSettings() }, { $id: "ToolPatch", ...closed }),
);
export type ToolPatchBody = Static<typeof toolPatchBody.schema>;

/** As read and as sent, without what is secret and what the server sets. */
export function toWireToolSettings(
  tool: Pick<Tool, "name" | "title" | "target" | "timeoutMs" | "confirm" | "requiresVisitor">,
) {
  const { target } = tool;
  const isHttp = target.type === "http";
  return {
    name: tool.name,
    title: tool.title,
    description: isHttp ? target.description : null,
    parameters: isHttp ? target.parameters : null,
    url: isHttp ? target.url : null,
    mcp_url: isHttp ? null : target.url,
    tools: isHttp || target.tools === null ? null : [...target.tools],
    timeout_ms: tool.timeoutMs,
    confirm: tool.confirm,
    requires_visitor: tool.requiresVisitor,
  };
}
