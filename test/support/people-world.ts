/** People who step into conversations of a test server, on a clock that only moves when a test moves it. */

import { createPeople } from "../../src/core/people/create-people.ts";
import { createDeadlines } from "../../src/core/people/deadlines.ts";
import type { People, TeamConversation, VisitorConversation } from "../../src/core/people/people.ts";
import { Revisions } from "../../src/core/people/revisions.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion, CompanionSettings } from "../../src/domain/companion.ts";
import type { ConversationKey } from "../../src/domain/conversation.ts";
import { type HandoffSettings, type Person, personIdOfKey } from "../../src/domain/handoff.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { TestServer } from "./app.ts";
import { chat } from "./chat.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { testContext } from "./test-context.ts";

export const handoffSettings: HandoffSettings = {
  ...{ mode: "any", ask: ["visitor", "model"], when: "always", hours: null, waitSeconds: 120, idleMinutes: 30 },
  ...{ waitingText: null, personText: null, unavailableText: null },
};

export interface PeopleWorld {
  readonly clock: ManualClock;
  /** Two of them, as two servers have them. */
  readonly people: People;
  readonly others: People;
  readonly account: Account;
  /** Of a key that works as long as the account. */
  readonly keyId: string;
  readonly companion: Companion & { embedToken: string };
  /** Keeps what is due now. */
  check(): Promise<void>;
  /** A conversation of one turn. */
  begin(): Promise<PeopleConversation>;
}

export interface PeopleConversation {
  readonly key: ConversationKey;
  readonly id: string;
  readonly visitor: VisitorConversation;
  as(person: Person): TeamConversation;
}

/** Someone whom a key names. */
export function personOf(keyId: string, name: string): Person {
  return { id: personIdOfKey(keyId, { name }), name, memberId: null, keyId };
}

export async function createPeopleWorld(
  server: TestServer,
  handoff: Partial<HandoffSettings> = {},
  settings: Partial<CompanionSettings> = {},
): Promise<PeopleWorld> {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@shop.example` });
  const companion = await server.createCompanion({ ...settings, handoff: { ...handoffSettings, ...handoff } }, account);
  const { id: keyId } = await server.createKey(account);
  const clock = createManualClock(Date.now() + 1_000);
  const services = { ...server.services, clock };
  return {
    ...{ clock, account, keyId, companion, people: createPeople(services), others: createPeople(services) },
    check: () => createDeadlines(services, new Revisions(services)).check(),
    async begin() {
      const conversation = conversationOf(server, companion, clock);
      await chat(server.url, companion.embedToken, { message: "Hi", session_id: conversation.key.sessionId });
      const query = { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null };
      const page = { limit: 1, afterId: null };
      const { items } = await services.store.conversations.list(account.id, query, page);
      return { ...conversation, ...placesOf(conversation, items[0]?.id ?? "") };
    },
  };
}

/** One that has not begun. */
export function conversationOf(
  server: TestServer,
  companion: Companion,
  clock: ManualClock,
  visitorId: string | null = null,
) {
  const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
  const visitor: VisitorConversation = {
    ...{ companion, key, visitor: null, requestId: "request-1" },
    arrivalMark: server.services.coordination.arrivals.mark(),
  };
  return { key, visitor, companion, clock };
}

export function placesOf({ key, companion, clock }: ReturnType<typeof conversationOf>, id: string) {
  const as = (person: Person): TeamConversation => {
    return { person, companion, conversationId: id, key, context: testContext(clock.nowMs()) };
  };
  return { id, as };
}
