/** Tools as rows. */
import type { JsonObject } from "../../../domain/json.ts";
import type { Tool, ToolTarget } from "../../../domain/tool.ts";

/** As both databases give it: JSON is text, and SQLite has 0 and 1 for booleans. */
export type ToolRow = Omit<Tool, "target" | "headerNames" | "confirm" | "requiresVisitor"> & {
  type: ToolTarget["type"];
  url: string;
  description: string | null;
  parameters: string | null;
  offered: string | null;
  headerNames: string;
  confirm: boolean | number;
  requiresVisitor: boolean | number;
};

export const toolFields: readonly (keyof ToolRow)[] = [
  ...(["id", "companionId", "name", "title", "type", "url", "description", "parameters", "offered"] as const),
  ...(["sealedHeaders", "headerNames", "sealedSecret", "timeoutMs", "confirm", "requiresVisitor"] as const),
  ...(["createdAt", "updatedAt"] as const),
];

export function toTool(row: ToolRow): Tool {
  const { type, url, description, parameters, offered, headerNames, confirm, requiresVisitor, ...rest } = row;
  const target: ToolTarget =
    type === "http"
      ? { type, url, description: description ?? "", parameters: JSON.parse(parameters ?? "{}") as JsonObject }
      : { type, url, tools: offered === null ? null : (JSON.parse(offered) as string[]) };
  const flags = { confirm: Boolean(confirm), requiresVisitor: Boolean(requiresVisitor) };
  return { ...rest, ...flags, target, headerNames: JSON.parse(headerNames) as string[] };
}

/** What the owner sets of a tool, as columns. */
export function toolColumns({ target, ...tool }: Tool) {
  const { name, title, sealedHeaders, sealedSecret, timeoutMs, confirm, requiresVisitor } = tool;
  const texts = {
    ...{ name, title, type: target.type, url: target.url },
    description: target.type === "http" ? target.description : null,
    parameters: target.type === "http" ? JSON.stringify(target.parameters) : null,
    offered: target.type === "mcp" && target.tools !== null ? JSON.stringify(target.tools) : null,
    ...{ sealedHeaders, headerNames: JSON.stringify(tool.headerNames), sealedSecret },
  };
  const bytes = Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
  return { ...texts, timeoutMs, confirm, requiresVisitor, bytes };
}
