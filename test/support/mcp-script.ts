/** A server of MCP 2026-07-28 that does what a test scripts, however wrong. */
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { serveMcp, type TestServer } from "./mcp-servers.ts";

export interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  readonly id: number;
  readonly request: Request;
}

export const discovery = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };

/** A result, or a whole response; `server/discover` needs none. */
export function serveScript(answer: (asked: Asked) => JsonObject | Response | Promise<Response>): TestServer {
  return serveMcp(async (request, { message }) => {
    const { method, id } = message ?? {};
    const params = isJsonObject(message?.["params"]) ? message["params"] : {};
    const asked: Asked = { method: String(method ?? request.method), params, id: Number(id), request };
    const answered = asked.method === "server/discover" ? discovery : await answer(asked);
    return answered instanceof Response ? answered : Response.json({ jsonrpc: "2.0", id: asked.id, result: answered });
  });
}
