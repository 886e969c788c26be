/**
 * What answers calls of tools: a URL of an owner's (engine `tool-http`), or a server that speaks MCP (engine `mcp`).
 *
 * A call never rejects but with the signal's reason: any failure is a sentence for the model, which goes on. No
 * secret, address or word of a server's error is in it, but for an MCP tool's report of its own failure: that is a result,
 * by which models correct themselves. None follows a redirect.
 */
import type { JsonObject } from "../domain/json.ts";
import type { OfferedTool } from "../domain/tool.ts";

/** Where a tool is, opened for a call. */
export interface ToolServer {
  /** Of the tool: what is kept for a server is kept under it. */
  readonly toolId: string;
  readonly url: string;
  /** The owner's own, sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of one call in all, another attempt and the wait before it included. */
  readonly timeoutMs: number;
}

export type CallAnswer =
  /** At most `maxResultBytes` of UTF-8: data for the model, never instructions. */
  | { readonly outcome: "done"; readonly result: string }
  /** `reason` is for the log and for the owner who tries the tool. */
  | { readonly outcome: "failed"; readonly sentence: string; readonly reason: string };

export interface HttpTools {
  /**
   * POSTs the body, signed by Standard Webhooks as `id` with the secret (`whsec_…`). Sent again once, with the same id,
   * only where it cannot have arrived, or on 429 and 503.
   */
  call(
    server: ToolServer & { readonly secret: string },
    call: { readonly id: string; readonly body: string },
    signal: AbortSignal,
  ): Promise<CallAnswer>;
  close(): void;
}

export type Listing =
  | { readonly outcome: "listed"; readonly tools: readonly OfferedTool[] }
  | { readonly outcome: "failed"; readonly reason: string };

export interface McpTools {
  /**
   * The server's tools, by its own names and in its order: kept for as long as it allows, and asked for again after that.
   * What is kept stands in for a list that fails. Calls for one server at the same time share one request.
   */
  list(server: ToolServer, signal: AbortSignal): Promise<Listing>;
  /** `name` is the server's own. At most once: no attempt follows one that may have arrived. */
  call(
    server: ToolServer,
    call: { readonly id: string; readonly name: string; readonly arguments: JsonObject },
    signal: AbortSignal,
  ): Promise<CallAnswer>;
  /** The tool has changed, or is gone: nothing is kept for it. */
  forget(toolId: string): void;
  close(): void;
}
