/** The tools of a companion, opened for a turn: what its model is offered, and how each is called. */

import type { Store } from "../../contracts/store/store.ts";
import type { CallAnswer, HttpTools, McpTools, ToolServer } from "../../contracts/tool-servers.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type OfferedTool, sealedAs, type Tool } from "../../domain/tool.ts";
import type { Log } from "../../lib/log.ts";
import type { Sealing } from "../../lib/sealing.ts";
import { AttemptsByHand } from "../attempts-by-hand.ts";
import type { TurnCaller } from "../turns/turn-start.ts";

/** What providers take in one request. */
export const maxOffered = 128;

/** How long a turn waits for the list of a server that none is kept of: a server that is away ends no chat. */
const listWaitMs = 3_000;

/** How long closing waits for calls under way. */
const lastCallMs = 3_000;

const uncalled = { sentence: "The tool could not be called.", reason: "The server could not send the call." };
const unended = {
  sentence: "The tool did not answer in time, so it is not known whether it did what it was asked to.",
  reason: "This server is stopping.",
};

export interface OpenTool {
  readonly tool: Tool;
  readonly offered: OfferedTool;
  /** What is wrong with the arguments, as a sentence for the model; null for nothing. */
  findFault(given: JsonObject): Promise<string | null>;
  /** Sends a call. Never rejects: a caller who leaves ends the waiting, not the call. */
  call(id: string, given: JsonObject, body: () => string): Promise<CallAnswer>;
}

export interface Toolbox {
  /** What the companion's model may call in this turn, at most 128: of `own`, or left out, of the tools that it has. */
  open(
    companion: Pick<Companion, "id">,
    caller: TurnCaller,
    requestId: string,
    own?: readonly Tool[],
  ): Promise<readonly OpenTool[]>;
  /** One of the companion's, no matter who may use it. Null if it is gone, or its server offers it no more. */
  find(companion: Pick<Companion, "id">, toolId: string, name: string): Promise<OpenTool | null>;
  /** All that a tool stands for: itself, or what its server offers. Rejects with `upstream_error` if that cannot be asked. */
  list(tool: Tool): Promise<readonly OpenTool[]>;
  /** What the owner tries, not what a model asks for. */
  readonly trials: AttemptsByHand;
  /** It has changed, or is gone. */
  forget(toolId: string): void;
  /** A call that was sent, until its end is kept: closing waits for it. */
  watch(call: Promise<unknown>): void;
  /** Resolves when none of those watched now is under way. */
  whenIdle(): Promise<void>;
  /** Waits a little for calls under way, and ends the others. */
  close(): Promise<void>;
}

export interface ToolEngines {
  readonly http: HttpTools;
  readonly mcp: McpTools;
  /** What is wrong with a value by a JSON Schema; null for nothing, and for a schema that cannot be understood. */
  findFault(schema: JsonObject, value: JsonObject): Promise<string | null>;
}

interface ToolboxParts {
  readonly store: Pick<Store, "tools">;
  readonly sealing: Sealing;
  readonly log: Log;
}

export function createToolbox({ store, log, sealing }: ToolboxParts, load: () => Promise<ToolEngines>): Toolbox {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  /** Null until a companion has tools. */
  let engines: Promise<ToolEngines> | null = null;

  function use(): Promise<ToolEngines> {
    engines ??= load();
    return engines;
  }

  async function toServer({ id: toolId, target: { url }, sealedHeaders, timeoutMs }: Tool): Promise<ToolServer> {
    const headers = sealedHeaders === null ? "{}" : await sealing.open(sealedAs.headers(toolId), sealedHeaders);
    return { toolId, url, headers: JSON.parse(headers), timeoutMs };
  }

  async function answered(tool: Tool, call: () => Promise<CallAnswer>): Promise<CallAnswer> {
    try {
      return await call();
    } catch (error) {
      if (closing.signal.aborted) return { outcome: "failed", ...unended };
      log.error("tool could not be called", { toolId: tool.id, error });
      return { outcome: "failed", ...uncalled };
    }
  }

  function openHttp(
    { http, findFault }: ToolEngines,
    tool: Tool,
    { description, parameters }: Extract<Tool["target"], { type: "http" }>,
  ): OpenTool {
    return {
      tool,
      offered: { name: tool.name, description, parameters },
      findFault: (given) => findFault(parameters, given),
      call: (id, _given, body) =>
        answered(tool, async () => {
          const { sealedSecret: sealed } = tool;
          const secret = sealed === "" ? "" : await sealing.open(sealedAs.secret(tool.id), sealed);
          return await http.call({ ...(await toServer(tool)), secret }, { id, body: body() }, closing.signal);
        }),
    };
  }

  function openMcp(
    { mcp, findFault }: ToolEngines,
    tool: Tool,
    { name, description, parameters }: OfferedTool,
  ): OpenTool {
    return {
      tool,
      offered: { name: offeredName(tool.name, name), description, parameters },
      findFault: (given) => findFault(parameters, given),
      call: (id, given) =>
        answered(tool, async () => mcp.call(await toServer(tool), { id, name, arguments: given }, closing.signal)),
    };
  }

  /** Why not, as a sentence for owners, if they cannot be listed. */
  async function listAll(tool: Tool, waitMs = tool.timeoutMs): Promise<OpenTool[] | string> {
    const { target } = tool;
    const opened = await use();
    if (target.type === "http") return [openHttp(opened, tool, target)];
    const server = await toServer(tool);
    const timeoutMs = Math.min(waitMs, server.timeoutMs);
    const listing = await opened.mcp.list({ ...server, timeoutMs }, closing.signal);
    if (listing.outcome === "failed") return listing.reason;
    return listing.tools
      .filter(({ name }) => target.tools === null || target.tools.includes(name))
      .map((offered) => openMcp(opened, tool, offered));
  }

  return {
    trials: new AttemptsByHand(),

    async open({ id }, { visitor, hasEvents }, requestId, own) {
      const usable = (own ?? (await store.tools.listAll(id))).filter(
        ({ confirm, requiresVisitor }) => (hasEvents || !confirm) && (visitor !== null || !requiresVisitor),
      );
      const byName = new Map<string, OpenTool>();
      const lists = await Promise.all(
        usable.map(async (tool) => {
          const opened = await listAll(tool, listWaitMs).catch((error: unknown) => String(error));
          if (typeof opened !== "string") return opened;
          log.warn("tools not offered", { requestId, companionId: id, toolId: tool.id, reason: opened });
          return [];
        }),
      );
      for (const opened of lists.flat()) {
        const { name } = opened.offered;
        if (byName.size < maxOffered && !byName.has(name)) byName.set(name, opened);
      }
      return [...byName.values()];
    },

    async find({ id }, toolId, name) {
      const tool = (await store.tools.listAll(id)).find((one) => one.id === toolId);
      const opened = tool === undefined ? [] : await listAll(tool);
      return (typeof opened === "string" ? [] : opened).find(({ offered }) => offered.name === name) ?? null;
    },

    async list(tool) {
      const opened = await listAll(tool);
      if (typeof opened === "string") throw new AppError("upstream_error", opened);
      return opened;
    },

    forget(toolId) {
      void engines?.then(({ mcp }) => mcp.forget(toolId));
    },

    watch(call) {
      const ended = call.finally(() => running.delete(ended));
      running.add(ended);
    },

    async whenIdle() {
      await Promise.allSettled(running);
    },

    async close() {
      const late = setTimeout(() => closing.abort(new Error("the server is stopping")), lastCallMs);
      await Promise.allSettled(running);
      clearTimeout(late);
      closing.abort(new Error("the server has stopped"));
      const opened = await engines;
      opened?.http.close();
      opened?.mcp.close();
    },
  };
}

/** As providers take names; servers may have others. */
function offeredName(prefix: string, name: string): string {
  return `${prefix}_${name}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}
