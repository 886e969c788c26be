/** What calls tools, loaded with the first companion that has any. */
import type { OutgoingHttp } from "../contracts/outgoing-http.ts";
import type { ToolEngines } from "../core/tools/toolbox.ts";
import { isWithin } from "../domain/metadata.ts";
import { maxArgumentDepth } from "../domain/tool.ts";
import { withDemoTools } from "../engines/demo/shop.ts";
import { createMcpTools } from "../engines/mcp/mcp.ts";
import { createHttpTools } from "../engines/tool-http/tool-http.ts";
import type { Clock } from "../lib/clock.ts";
import { compileSchema } from "../lib/json-schema/schema.ts";
import type { Log } from "../lib/log.ts";

export function openToolEngines(outgoing: OutgoingHttp, { clock, log }: { clock: Clock; log: Log }): ToolEngines {
  return {
    http: withDemoTools(createHttpTools({ outgoing, clock })),
    mcp: createMcpTools({ outgoing, clock, log }),
    async findFault(schema, given) {
      if (!isWithin(given, maxArgumentDepth)) return `Must be at most ${maxArgumentDepth} levels deep.`;
      // Servers that speak MCP may have schemas that we refuse: they check for themselves.
      const compiled = await compileSchema(schema).catch(() => null);
      return compiled?.check(given) ?? null;
    },
  };
}
