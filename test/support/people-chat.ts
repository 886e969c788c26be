/** A server with a companion whose conversations people may step into, and someone of the team. */
import type { TeamConversation } from "../../src/core/people/people.ts";
import type { Account } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { textOf } from "../../src/domain/conversation.ts";
import { type Handoff, type HandoffSettings, handoffDefaults, type Person } from "../../src/domain/handoff.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { type ApiClient, apiClient } from "./api-client.ts";
import type { TestServerOptions } from "./app.ts";
import { testContext } from "./app.ts";
import { sendChat } from "./chat.ts";
import { type EventsRead, openToolWorld, readEvents, type ToolWorld } from "./tool-world.ts";

export const grace: Person = { id: "key-1:grace", name: "Grace", memberId: null, keyId: "key-1" };

export interface PeopleChat extends ToolWorld {
  /** With a key of the companion's account. */
  readonly owner: ApiClient;
  readonly ownerKey: string;
  /** Without one. */
  readonly visitors: ApiClient;
  keyOf(sessionId: string): { companionId: string; sessionId: string; visitorId: null };
  find(sessionId: string): Promise<Handoff | null>;
  placeOf(sessionId: string, person?: Person): Promise<TeamConversation>;
  take(sessionId: string, options?: { stop?: boolean; person?: Person }): Promise<unknown>;
  release(sessionId: string): Promise<void>;
  write(sessionId: string, text: string): Promise<unknown>;
  /** `who: text` of each message, `…` behind those that broke off. */
  transcript(sessionId: string): Promise<string[]>;
  /** Sends a message without events. */
  sayPlainly(message: string, fields?: JsonObject): Promise<EventsRead>;
}

const handoffSettings: HandoffSettings = {
  ...{ mode: "any", ask: handoffDefaults.ask, when: "always", hours: null },
  ...{ waitSeconds: handoffDefaults.waitSeconds, idleMinutes: handoffDefaults.idleMinutes },
  ...{ waitingText: "One moment.", personText: "Grace will read it.", unavailableText: "No one is there." },
};

export async function openPeopleChat(
  settings: Partial<CompanionSettings> & { people?: Partial<HandoffSettings> } = {},
  options: TestServerOptions = {},
): Promise<PeopleChat> {
  const { people, ...others } = settings;
  const world = await openToolWorld(options, { handoff: { ...handoffSettings, ...people }, ...others });
  const { server, companion } = world;
  const { services } = server;
  const keyOf = (sessionId: string) => ({ companionId: companion.id, sessionId, visitorId: null });

  async function findConversation(sessionId: string) {
    const { items } = await services.store.conversations.list(
      companion.accountId,
      { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null },
      { limit: 100, afterId: null },
    );
    const found = items.find((one) => one.sessionId === sessionId);
    if (found === undefined) throw new Error("there is no such conversation");
    return found;
  }

  async function placeOf(sessionId: string, person = grace): Promise<TeamConversation> {
    const { id: conversationId } = await findConversation(sessionId);
    return { person, companion, conversationId, key: keyOf(sessionId), context: testContext() };
  }

  const { key: ownerKey } = await server.createKey({ id: companion.accountId } as Account);

  return Object.assign(world, {
    ownerKey,
    owner: apiClient(server.url, ownerKey),
    visitors: apiClient(server.url, null),
    keyOf,
    find: (sessionId: string) => services.store.handoffs.find(keyOf(sessionId)),
    placeOf,
    async take(sessionId: string, { stop = true, person = grace }: { stop?: boolean; person?: Person } = {}) {
      return await services.people.take(await placeOf(sessionId, person), { stop, from: null });
    },
    async release(sessionId: string) {
      await services.people.release(await placeOf(sessionId), { close: false, from: null });
    },
    async write(sessionId: string, text: string) {
      const clientId = crypto.randomUUID();
      return await services.people.say(await placeOf(sessionId), { text, clientId, afterSeq: null });
    },
    async transcript(sessionId: string) {
      const { id } = await findConversation(sessionId);
      const { messages } = await services.store.handoffs.listLive(id, 0, 1000);
      return messages.map(({ message, author }) => {
        const who = author?.name ?? (message.role === "user" ? "visitor" : "companion");
        return `${who}: ${textOf(message)}${message.complete ? "" : "…"}`;
      });
    },
    sayPlainly: async (message: string, fields: JsonObject = {}) =>
      readEvents(await sendChat(server.url, companion.embedToken, { message, ...fields })),
  });
}
