/** What companions' models may call, and what they called. */
import type {
  ListToolCallsQuery,
  ListToolsQuery,
  NewTool,
  Tool,
  ToolCallList,
  ToolList,
  ToolPatch,
  ToolTest,
  ToolTestRequest,
  ToolWithSecret,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  condition,
  creationHeaders,
  type NoteOptions,
  noteHeaders,
  readVersion,
  type Transport,
} from "../transport.ts";

export function toolCalls(transport: Transport) {
  const at = (companionId: string, ...rest: string[]) => ["api", "companions", companionId, "tools", ...rest];
  const list = (companionId: string, query: ListToolsQuery = {}, options: CallOptions = {}) =>
    transport.json<ToolList>({ method: "GET", path: at(companionId), query }, options);
  const calls = (companionId: string, id: string, query: ListToolCallsQuery = {}, options: CallOptions = {}) =>
    transport.json<ToolCallList>({ method: "GET", path: at(companionId, id, "calls"), query }, options);

  return {
    /** One page, newest first. */
    list,
    listAll: (companionId: string, query: ListToolsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(companionId, page, options)),

    /** The secret is in this answer only, and not in that to a repeated call. */
    create: (companionId: string, tool: NewTool, options: CreateOptions & NoteOptions = {}) =>
      transport.json<ToolWithSecret>(
        {
          method: "POST",
          path: at(companionId),
          body: tool,
          headers: { ...creationHeaders(options), ...noteHeaders(options) },
        },
        options,
      ),

    get: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.json<Tool>({ method: "GET", path: at(companionId, id) }, options),

    /** With the version that it has: for `ifMatch`. */
    async getVersion(companionId: string, id: string, options: CallOptions = {}) {
      const { found: tool, etag } = await readVersion<Tool>(transport, at(companionId, id), options);
      return { tool, etag };
    },

    /** Only the fields that are sent change; `headers` as a whole. */
    update: (companionId: string, id: string, patch: ToolPatch, options: ChangeOptions & NoteOptions = {}) =>
      transport.json<Tool>({ method: "PATCH", path: at(companionId, id), body: patch, ...condition(options) }, options),

    delete: (companionId: string, id: string, options: ChangeOptions & NoteOptions = {}) =>
      transport.send({ method: "DELETE", path: at(companionId, id), ...condition(options) }, options),

    /** Signs calls with another secret, which is in this answer only. */
    rotateSecret: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.json<ToolWithSecret>({ method: "POST", path: at(companionId, id, "rotate-secret") }, options),

    /** Calls it as a model would; `ok` is true if it returned a result. */
    test: (companionId: string, id: string, request: ToolTestRequest = {}, options: CallOptions = {}) =>
      transport.json<ToolTest>({ method: "POST", path: at(companionId, id, "test"), body: request }, options),

    /** One page of its last calls. */
    calls,
    allCalls: (companionId: string, id: string, query: ListToolCallsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => calls(companionId, id, page, options)),
  };
}
