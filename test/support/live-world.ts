/** A visitor's conversation that someone of the team takes, over the public routes. */
import type { Account } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import type { HandoffSettings } from "../../src/domain/handoff.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import type { TestServer } from "./app.ts";
import { chat } from "./chat.ts";
import { type OpenedEvents, openEvents } from "./event-frames.ts";
import { handoffSettings } from "./people-world.ts";

export interface LiveConversation {
  readonly sessionId: string;
  readonly visitorId: string;
  readonly id: string;
  take(): Promise<unknown>;
  release(): Promise<unknown>;
  /** Someone of the team writes; resolves with the `seq`. */
  write(text: string): Promise<number>;
  /** The visitor writes. */
  say(text: string): Promise<unknown>;
  listen(query?: string, headers?: Record<string, string>): Promise<OpenedEvents>;
  poll(
    query?: string,
  ): Promise<{ status: number; json: { state: { state: string }; data: { text: string }[]; cursor: number } }>;
}

export interface LiveWorld {
  readonly account: Account;
  readonly companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
  readonly owner: ApiClient;
  readonly key: string;
  setMode(mode: HandoffSettings["mode"]): Promise<unknown>;
  /** Of one turn, which are the messages 1 and 2. */
  begin(headers?: Record<string, string>): Promise<LiveConversation>;
}

export const as = { id: "7", name: "Grace" };

export async function createLiveWorld(
  server: TestServer,
  handoff: Partial<HandoffSettings> | null = {},
  settings: Partial<CompanionSettings> = {},
  /** Where visitors are: another server of the same data. */
  visitorsUrl = server.url,
  ofAccount: Account | null = null,
): Promise<LiveWorld> {
  const account = ofAccount ?? (await server.createAccount({ email: `${crypto.randomUUID()}@shop.example` }));
  const people = handoff === null ? null : { ...handoffSettings, ...handoff };
  const companion = await server.createCompanion({ ...settings, handoff: people }, account);
  const { key } = await server.createKey(account);
  const owner = apiClient(server.url, key);

  async function call(method: string, path: string, body: object) {
    const response = await owner.call(method, path, body);
    if (response.status >= 300) throw new Error(`${path} answered ${response.status}: ${response.text}`);
    return response.text === "" ? null : response.json;
  }

  return {
    ...{ account, companion, owner, key },
    setMode: (mode) => call("PATCH", `/api/companions/${companion.id}`, { handoff: { mode } }),
    async begin(headers = {}) {
      const [sessionId, visitorId] = [crypto.randomUUID(), crypto.randomUUID()];
      const ids = { session_id: sessionId, visitor_id: visitorId };
      const { embedToken } = companion;
      const say = (message: string) =>
        chat(
          visitorsUrl,
          embedToken,
          { message, ...ids },
          { headers: { "content-type": "application/json", ...headers } },
        );
      await say("[[say:Hello]]");
      const { json } = await owner.call("GET", `/api/conversations?companion_id=${companion.id}&limit=100`);
      const id = json.data.find((row) => row["session_id"] === sessionId)?.id ?? "";
      const path = `/api/conversations/${id}`;
      const url = `${visitorsUrl}/api/embed/${embedToken}/live?session_id=${sessionId}&visitor_id=${visitorId}`;
      return {
        ...{ sessionId, visitorId, id, say },
        take: () => call("POST", `${path}/take`, { as }),
        release: () => call("POST", `${path}/release`, { as }),
        async write(text) {
          const sent = await call("POST", `${path}/messages`, { text, client_id: crypto.randomUUID(), as });
          return Number(sent?.["seq"]);
        },
        listen: (query = "", more = {}) => openEvents(url + query, { ...headers, ...more }),
        async poll(query = "") {
          const response = await fetch(url + query, { headers: { accept: "application/json", ...headers } });
          return { status: response.status, json: (await response.json()) as never };
        },
      };
    },
  };
}
