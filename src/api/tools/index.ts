/** `/api/companions/{id}/tools`: what a companion's model may call, and what it called. */
import type { PageRequest } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { missing, readId } from "../../domain/errors.ts";
import { maxTools } from "../../domain/tool.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { collectList, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { readCheck, tagVersion, toVersion } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { newToolBody, toolPatchBody } from "../../http/schemas/tool-settings.ts";
import { ToolCallObject, ToolObject, ToolWithSecretObject, toWireCallRecord, toWireTool } from "./responses.ts";
import { getTool, prepareTool, rotateSecret, updateTool } from "./service.ts";
import { toolTestRoute } from "./test-route.ts";

const tag = "Tools" as const;
const makeParams = () => ({ id: idParam("companion"), tool_id: idParam("tool") });

async function requireCompanion({ store }: Pick<Services, "store">, accountId: string, id: string): Promise<string> {
  const companion = await store.companions.find(accountId, readId(id, "companion"));
  if (companion === null) throw missing("companion");
  return companion.id;
}

export const toolRoutes: readonly Route[] = [
  route({
    id: "listTools",
    method: "GET",
    path: "/api/companions/{id}/tools",
    tag,
    summary: "List a companion's tools",
    access: "companions:read",
    query: { page: pageQuery },
    document: () => ({
      params: { id: idParam("companion") },
      responses: { 200: jsonResponse("A page of tools.", listOf(ToolObject, "ToolList")) },
    }),
    async handle({ services, principal, params, query: { page } }) {
      const companionId = readId(params.id, "companion");
      const found = await services.store.tools.list(principal.account.id, companionId, page);
      if (found === null) throw missing("companion");
      return toWireList(found, toWireTool);
    },
  }),
  route({
    id: "createTool",
    method: "POST",
    path: "/api/companions/{id}/tools",
    tag,
    summary: "Add a tool",
    access: "companions:write",
    body: uncheckedBody(newToolBody),
    isIdempotent: true,
    document: () => ({
      description:
        "A URL that receives calls, or an MCP server with tools of its own; see [tools](/docs/guides/tools). A companion " +
        `has at most ${maxTools}, each with a name of its own: otherwise 409 \`conflict\`.`,
      params: { id: idParam("companion") },
      bodyExample: {
        name: "find_order",
        title: "Find an order",
        description: "Finds an order by its number, and returns its status.",
        parameters: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
        url: "https://shop.example/companion/orders",
        headers: { Authorization: "Bearer 0f1e2d" },
      },
      headers: ["X-Change-Note"],
      responses: {
        201: jsonResponse("The tool with its secret, shown only this once.", ToolWithSecretObject, "ETag"),
      },
      errors: ["limit_reached"],
    }),
    async handle({ services, principal, set, params, createOnce }) {
      const accountId = principal.account.id;
      const companionId = await requireCompanion(services, accountId, params.id);
      const text = await createOnce(async (body, { nowMs }) => {
        const { made, secret, write } = await prepareTool(services, accountId, companionId, body, nowMs);
        return { response: toWireTool(made), secret: { secret }, write };
      });
      tagVersion(set, JSON.parse(text));
      return text;
    },
  }),
  route({
    id: "getTool",
    method: "GET",
    path: "/api/companions/{id}/tools/{tool_id}",
    tag,
    summary: "Read a tool",
    access: "companions:read",
    document: () => ({
      params: makeParams(),
      responses: { 200: jsonResponse("The tool.", ToolObject, "ETag") },
    }),
    async handle({ services, principal, set, params }) {
      return tagVersion(set, toWireTool(await getTool(services, principal.account.id, params.id, params.toolId)));
    },
  }),
  route({
    id: "updateTool",
    method: "PATCH",
    path: "/api/companions/{id}/tools/{tool_id}",
    tag,
    summary: "Change a tool",
    access: "companions:write",
    body: uncheckedBody(toolPatchBody),
    document: () => ({
      description:
        "Only fields that are sent change; null resets one to its default. `headers` and `parameters` are replaced as a " +
        "whole. Read-only fields that are sent back are ignored. A tool with `url` cannot become an MCP server, or vice versa.",
      params: makeParams(),
      headers: ["If-Match", "X-Change-Note"],
      bodyExample: { title: "Look up an order", timeout_ms: 5000 },
      responses: { 200: jsonResponse("The tool as it is now.", ToolObject, "ETag") },
      errors: ["limit_reached", "precondition_failed", "conflict"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const accountId = principal.account.id;
      const current = await getTool(services, accountId, params.id, params.toolId);
      const check = readCheck(request, toVersion);
      check?.(current);
      const change = { sent: await readBody(), check };
      return tagVersion(set, toWireTool(await updateTool(services, accountId, current, change, writeContext())));
    },
  }),
  route({
    id: "deleteTool",
    method: "DELETE",
    path: "/api/companions/{id}/tools/{tool_id}",
    tag,
    summary: "Delete a tool",
    access: "companions:write",
    document: () => ({
      description: "Its calls stay in transcripts; those that wait for a visitor are declined.",
      params: makeParams(),
      headers: ["If-Match", "X-Change-Note"],
      responses: { 204: { description: "Deleted: it is no longer called." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const accountId = principal.account.id;
      const { companionId, id } = await getTool(services, accountId, params.id, params.toolId);
      const check = readCheck(request, toVersion);
      if (!(await services.store.tools.delete(accountId, companionId, id, writeContext(), check)))
        throw missing("tool");
      services.toolbox.forget(id);
    },
  }),
  route({
    id: "rotateToolSecret",
    method: "POST",
    path: "/api/companions/{id}/tools/{tool_id}/rotate-secret",
    tag,
    summary: "Replace a tool's secret",
    access: "companions:write",
    document: () => ({
      description: "Calls are signed with it from the next one on: let the receiver accept both until then.",
      params: makeParams(),
      responses: {
        200: jsonResponse("The tool with its new secret, shown only this once.", ToolWithSecretObject, "ETag"),
      },
    }),
    async handle({ services, principal, set, params, writeContext }) {
      const accountId = principal.account.id;
      const current = await getTool(services, accountId, params.id, params.toolId);
      const { tool, secret } = await rotateSecret(services, accountId, current, writeContext());
      return { ...tagVersion(set, toWireTool(tool)), secret };
    },
  }),
  route({
    id: "listToolCalls",
    method: "GET",
    path: "/api/companions/{id}/tools/{tool_id}/calls",
    tag,
    summary: "List a tool's latest calls",
    access: "conversations:read",
    query: { page: pageQuery },
    document: () => ({
      description:
        "In all conversations; they are deleted with these. A page may have fewer items than `limit`, or none, even if " +
        "`next_cursor` leads to more.",
      params: makeParams(),
      responses: { 200: jsonResponse("A page of calls.", listOf(ToolCallObject, "ToolCallList")) },
    }),
    handle({ services, principal, params, query: { page } }) {
      const companionId = readId(params.id, "companion");
      const toolId = readId(params.toolId, "tool");
      const read = async (part: PageRequest) => {
        const found = await services.store.toolCalls.listOfTool(principal.account.id, companionId, toolId, part);
        if (found === null) throw missing("tool");
        return { ...found, items: found.items.map((call) => ({ ...call, updatedAt: call.createdAt })) };
      };
      return collectList({ ...page, updatedSinceMs: null }, read, toWireCallRecord);
    },
  }),
  toolTestRoute,
];
