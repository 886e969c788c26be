/** What a body makes of a tool. */
import type { Tool, ToolTarget } from "../../domain/tool.ts";
import { toolTimeoutMs } from "../../domain/tool.ts";
import { noParameters, type ToolPatchBody } from "./tool-settings.ts";

type Kind = ToolTarget["type"];

type ToolSettings = Pick<Tool, "name" | "title" | "target" | "timeoutMs" | "confirm" | "requiresVisitor">;

/** Null unless it is clear where the tool leads. */
export function findKind({ url, mcp_url: mcpUrl }: ToolPatchBody): Kind | null {
  if ((url == null) === (mcpUrl == null)) return null;
  return mcpUrl == null ? "http" : "mcp";
}

/** With all that is left out as it is by default. */
export function toToolSettings(body: ToolPatchBody & { name: string }, kind: Kind): ToolSettings {
  return {
    ...{ name: body.name, title: body.title ?? body.name, target: toTarget(body, kind) },
    ...{ timeoutMs: body.timeout_ms ?? toolTimeoutMs.usual, confirm: body.confirm ?? false },
    requiresVisitor: body.requires_visitor ?? false,
  };
}

function toTarget(body: ToolPatchBody, kind: Kind): ToolTarget {
  const { url, mcp_url: mcpUrl, description, parameters, tools } = body;
  return kind === "http"
    ? { type: kind, url: url ?? "", description: description ?? "", parameters: parameters ?? noParameters }
    : { type: kind, url: mcpUrl ?? "", tools: tools ?? null };
}

/** What of the body is not so already. A field that is null gets what a new tool has. */
export function listToolChanges(tool: ToolSettings, body: ToolPatchBody): Partial<ToolSettings> {
  const { name = tool.name, title, timeout_ms: timeoutMs, confirm, requires_visitor: requiresVisitor } = body;
  const wanted = {
    ...{ name, title: title === null ? name : title, timeoutMs: timeoutMs === null ? toolTimeoutMs.usual : timeoutMs },
    ...{
      confirm: confirm === null ? false : confirm,
      requiresVisitor: requiresVisitor === null ? false : requiresVisitor,
    },
    target: changeTarget(tool.target, body),
  };
  const changed = Object.entries(wanted).filter(([field, value]) => {
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(tool[field as keyof typeof wanted]);
  });
  return Object.fromEntries(changed);
}

function changeTarget(target: ToolTarget, { url, mcp_url: mcpUrl, description, parameters, tools }: ToolPatchBody) {
  if (target.type === "mcp")
    return { ...target, url: mcpUrl ?? target.url, tools: tools === undefined ? target.tools : tools };
  return {
    ...target,
    url: url ?? target.url,
    description: description === undefined ? target.description : (description ?? ""),
    parameters: parameters === undefined ? target.parameters : (parameters ?? noParameters),
  };
}
