/** `POST …/tools/{tool_id}/test`: the owner tries a tool, as a model would call it. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import { toCallBody } from "../../core/tools/call-runner.ts";
import type { OpenTool } from "../../core/tools/toolbox.ts";
import type { Principal } from "../../domain/account.ts";
import { AppError, invalidFields, missing } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Tool } from "../../domain/tool.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { type Route, route } from "../../http/route.ts";
import { compileChecker, Nullable, Text } from "../../http/schemas/schema.ts";
import { type ToolTest, ToolTestObject } from "./responses.ts";
import { getTool } from "./service.ts";

const testRequest = compileChecker(() =>
  t.Object(
    {
      arguments: t.Optional(
        Nullable(
          t.Unsafe<JsonObject>(
            t.Object(
              {},
              { additionalProperties: true, description: "Default: an empty object.", examples: [{ number: "4711" }] },
            ),
          ),
        ),
      ),
      tool: t.Optional(
        Nullable(
          Text({
            maxLength: 200,
            description: "For an MCP server: the tool, by the name that is offered. If left out, the result lists all.",
            examples: ["shop_find_order"],
          }),
        ),
      ),
    },
    { $id: "ToolTestRequest" },
  ),
);
type TestRequest = Static<typeof testRequest.schema>;

async function tryTool(services: Services, { account }: Principal, tool: Tool, body: TestRequest): Promise<ToolTest> {
  const { clock, store, toolbox } = services;
  const companion = await store.companions.find(account.id, tool.companionId);
  if (companion === null) throw missing("companion");
  const startedMs = clock.monotonicMs();
  const finish = (ok: boolean, result: string): ToolTest => {
    return { ok, result, duration_ms: Math.round(clock.monotonicMs() - startedMs) };
  };
  let opened: readonly OpenTool[];
  try {
    opened = await toolbox.list(tool);
  } catch (error) {
    if (error instanceof AppError) return finish(false, error.message);
    throw error;
  }
  if (tool.target.type === "mcp" && body.tool == null) {
    return finish(true, JSON.stringify(opened.map(({ offered }) => offered.name)));
  }
  const open = tool.target.type === "http" ? opened[0] : opened.find(({ offered }) => offered.name === body.tool);
  if (open === undefined) throw invalidFields([{ param: "tool", detail: "The server offers no tool with this name." }]);
  const given = body.arguments ?? {};
  const fault = await open.findFault(given);
  if (fault !== null) return finish(false, `The arguments are invalid: ${fault}`);
  const id = services.ids.uuid();
  const call = { id, tool: open.offered.name };
  const answer = await open.call(id, given, () => toCallBody({ companion }, call, given, clock.nowMs()));
  return answer.outcome === "done" ? finish(true, answer.result) : finish(false, answer.reason);
}

export const toolTestRoute: Route = route({
  id: "testTool",
  method: "POST",
  path: "/api/companions/{id}/tools/{tool_id}/test",
  tag: "Tools",
  summary: "Try a tool",
  access: "companions:write",
  body: jsonBody(testRequest),
  document: () => ({
    description:
      "Calls the tool with these arguments, without a visitor; its effects are real. 200 even if the call fails: " +
      "`result` has the reason.",
    params: { id: idParam("companion"), tool_id: idParam("tool") },
    bodyExample: { arguments: { number: "4711" } },
    responses: { 200: jsonResponse("The outcome.", ToolTestObject) },
  }),
  async handle({ services, principal, params, readBody }) {
    const tool = await getTool(services, principal.account.id, params.id, params.toolId);
    const body = await readBody();
    return await services.toolbox.trials.run(principal.account.id, () => tryTool(services, principal, tool, body));
  },
});
