/** A server whose companion has tools, and the owner's server that answers their calls. */
import type { CompanionSettings } from "../../src/domain/companion.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { sealedAs, type Tool } from "../../src/domain/tool.ts";
import { startTestServer, type TestServer, type TestServerOptions, testContext } from "./app.ts";
import { sendChat } from "./chat.ts";

export interface ReceivedCall {
  readonly id: string;
  readonly headers: Headers;
  readonly raw: string;
  readonly data: {
    tool: string;
    arguments: JsonObject;
    call_id: string;
    companion: { id: string; metadata: JsonObject };
    session_id: string | null;
    visitor: { sub: string | null; verified: boolean; attributes: JsonObject };
  };
}

export interface ToolWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
  /** In the order of their arrival. */
  readonly calls: ReceivedCall[];
  /** Answers the calls; by default with `{"ok":true}`. */
  answer(respond: (call: ReceivedCall) => Response | Promise<Response>): void;
  addTool(fields?: Partial<Omit<Tool, "target">> & { target?: Partial<Tool["target"]> }): Promise<Tool>;
  /** Sends a message, by default with named events, and reads its stream. */
  say(message: string, fields?: JsonObject): Promise<EventsRead>;
  decide(callId: string, isApproved: boolean, fields?: JsonObject): Promise<EventsRead>;
}

export interface EventsRead {
  readonly status: number;
  readonly raw: string;
  readonly text: string;
  readonly isDone: boolean;
  /** Named ones, in order. */
  readonly events: readonly { readonly name: string; readonly data: JsonObject }[];
}

export const secretOfTools = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

export async function readEvents(response: Response): Promise<EventsRead> {
  const raw = await response.text();
  const events: { name: string; data: JsonObject }[] = [];
  let text = "";
  let isDone = false;
  for (const block of response.ok ? raw.split("\n\n") : []) {
    const lines = block.split("\n").filter((line) => !line.startsWith("id: "));
    const [first = "", second = ""] = lines;
    if (first === "data: [DONE]") isDone = true;
    else if (first.startsWith("data: ")) text += JSON.parse(first.slice("data: ".length)).text;
    else if (first.startsWith("event: ")) {
      events.push({ name: first.slice("event: ".length), data: JSON.parse(second.slice("data: ".length)) });
    }
  }
  return { status: response.status, raw, text, isDone, events };
}

export async function openToolWorld(
  options: TestServerOptions = {},
  settings: Partial<CompanionSettings> = {},
): Promise<ToolWorld> {
  const environment = { COMPANIOND_PRIVATE_TARGETS: "127.0.0.1", ...options.environment };
  const server = await startTestServer({ ...options, environment });
  const companion = await server.createCompanion(settings);
  const calls: ReceivedCall[] = [];
  let respond: (call: ReceivedCall) => Response | Promise<Response> = () => Response.json({ ok: true });
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const raw = await request.text();
      const id = request.headers.get("webhook-id") ?? "";
      const call = { id, headers: request.headers, raw, data: JSON.parse(raw).data };
      calls.push(call);
      return await respond(call);
    },
  });
  const { services } = server;
  return {
    server,
    companion,
    calls,
    answer(next) {
      respond = next;
    },
    async addTool({ target, ...fields } = {}) {
      const id = services.ids.uuid();
      const name = fields.name ?? "look_up";
      const http = {
        type: "http" as const,
        url: `http://127.0.0.1:${receiver.port}/${name}`,
        description: "Looks things up.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
      };
      const tool: Tool = {
        ...{ id, companionId: companion.id, name, title: "Look things up", sealedHeaders: null, headerNames: [] },
        sealedSecret: await services.sealing.seal(sealedAs.secret(id), secretOfTools),
        ...{ timeoutMs: 10_000, confirm: false, requiresVisitor: false },
        ...{ createdAt: services.clock.nowMs(), updatedAt: services.clock.nowMs() },
        ...fields,
        target: { ...http, ...target } as Tool["target"],
      };
      await services.store.tools.create(companion.accountId, tool, testContext());
      return tool;
    },
    say: async (message, fields = {}) =>
      readEvents(await sendChat(server.url, companion.embedToken, { message, events: true, ...fields })),
    async decide(callId, approve, fields = {}) {
      return await readEvents(
        await fetch(`${server.url}/api/embed/${companion.embedToken}/confirmations/${callId}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ approve, ...fields }),
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await receiver.stop(true);
    },
  };
}
