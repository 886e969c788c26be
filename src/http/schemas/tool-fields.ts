/** A tool's fields in responses, but its id, its secret and its times. */
import { Type as t } from "@sinclair/typebox";
import type { JsonObject } from "../../domain/json.ts";
import { Nullable } from "./schema.ts";

export const shownToolFields = () => ({
  name: t.String({ examples: ["find_order"] }),
  title: t.String({ examples: ["Find an order"] }),
  description: Nullable(t.String({ examples: ["Finds an order by its number."] })),
  parameters: Nullable(
    t.Unsafe<JsonObject>(t.Object({}, { additionalProperties: true, description: "Null for an MCP server." })),
  ),
  url: Nullable(t.String({ description: "Null for an MCP server.", examples: ["https://shop.example/orders"] })),
  mcp_url: Nullable(t.String({ examples: [null] })),
  tools: Nullable(t.Array(t.String(), { description: "Those of the MCP server that are offered; null for all." })),
  header_names: t.Array(t.String(), { description: "The names in `headers`, whose values are not shown." }),
  timeout_ms: t.Integer({ examples: [10_000] }),
  confirm: t.Boolean(),
  requires_visitor: t.Boolean(),
});
