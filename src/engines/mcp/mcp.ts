/** MCP over HTTP as a client: 2026-07-28 without sessions, and 2025-11-25 with them, depending on the server. */
import type { McpTools, ToolServer } from "../../contracts/tool-servers.ts";
import { McpServer, type ServerOptions } from "./server.ts";

export interface McpOptions extends Omit<ServerOptions, "onKept"> {
  /** How much is kept; what was not used for longest goes first. Replaced by tests. */
  readonly maxServers?: number;
  readonly maxKeptBytes?: number;
}

export function createMcpTools(options: McpOptions): McpTools {
  const { maxServers = 256, maxKeptBytes = 16 * 1024 * 1024 } = options;
  /** By tool, the last used one last. Not by URL: what one owner may see is not for another. */
  const servers = new Map<string, McpServer>();

  function forget(toolId: string): void {
    servers.get(toolId)?.end();
    servers.delete(toolId);
  }

  function limit(): void {
    let bytes = 0;
    for (const server of servers.values()) bytes += server.keptBytes;
    for (const [toolId, server] of servers) {
      if (servers.size <= 1 || (servers.size <= maxServers && bytes <= maxKeptBytes)) return;
      bytes -= server.keptBytes;
      forget(toolId);
    }
  }

  function open(server: ToolServer): McpServer {
    const { toolId } = server;
    const known = servers.get(toolId);
    // It may have been changed at another instance, which forgets it for itself alone.
    if (known !== undefined && !known.isOf(server)) known.end();
    const current = known?.isOf(server) ? known : new McpServer(server, { ...options, onKept: limit });
    servers.delete(toolId);
    servers.set(toolId, current);
    limit();
    return current;
  }

  return {
    list: (server, signal) => open(server).list(server.timeoutMs, signal),
    call: (server, call, signal) => open(server).call(call, server.timeoutMs, signal),
    forget,
    close() {
      for (const server of servers.values()) server.close();
      servers.clear();
    },
  };
}
