/** Conversations in memory as `LiveHub` reads them, one store for several hubs whose announcements may be lost. */
import type { Announcements } from "../../src/contracts/announcements.ts";
import type { LiveConversation, LiveMessage } from "../../src/contracts/store/handoffs.ts";
import type { LiveEvent, LiveHub } from "../../src/core/people/live.ts";
import { createLiveHub, type LiveHubOptions } from "../../src/core/people/live-hub.ts";
import { textParts, uncounted } from "../../src/domain/conversation.ts";
import type { Handoff, Person } from "../../src/domain/handoff.ts";
import { createCapturedLog } from "./captured-log.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

export const accountId = "account";
export const grace: Person = { id: "grace", name: "Grace", memberId: "grace", keyId: null };
export const plainRight = { name: "token", check: async () => true, tokenEndsAtMs: null };

export function handoff(fields: Partial<Handoff> = {}): Handoff {
  return {
    ...{ conversationId: "c", accountId, companionId: "companion", state: "person", reason: "taken", person: grace },
    ...{ reserved: null, sinceMs: 1, untilMs: null, owedSinceMs: null, wasPresent: false, status: "open" },
    ...{ assigneeId: null, tags: [], reachSeq: 0, returnedAtMs: null, plainSeq: 0, seenSeq: 0, missedAtMs: null },
    ...{ isResolved: null, day: "", dayMessages: 0, change: 1, isAsked: true, isOffered: false },
    ...fields,
  } as Handoff;
}

export class FakeConversations {
  readonly all = new Map<string, { handoff: Handoff | null; messages: LiveMessage[] }>();
  reads = 0;
  readsAtOnce = 0;
  maxReadsAtOnce = 0;
  isAway = false;

  keyOf(conversationId: string) {
    return { companionId: "companion", sessionId: conversationId, visitorId: null };
  }

  add(conversationId: string, state: Handoff | null = handoff()): void {
    this.all.set(conversationId, { handoff: state && { ...state, conversationId }, messages: [] });
  }

  say(conversationId: string, text: string, author: Person | null = grace): number {
    const found = this.all.get(conversationId);
    if (found === undefined) throw new Error("no such conversation");
    const seq = found.messages.length + 1;
    const role = author === null ? "user" : "assistant";
    const facts = { id: text, role, channel: "text", parts: textParts(text), complete: true, createdAt: seq } as const;
    found.messages.push({ seq, message: { ...facts, ...uncounted }, author, clientId: null });
    this.change(conversationId, {});
    return seq;
  }

  change(conversationId: string, fields: Partial<Handoff>): void {
    const found = this.all.get(conversationId);
    if (found?.handoff) found.handoff = { ...found.handoff, ...fields, change: found.handoff.change + 1 };
  }

  readonly store: LiveHubOptions["store"] = {
    findLive: async ({ sessionId: conversationId }): Promise<LiveConversation | null> => {
      this.reads++;
      this.maxReadsAtOnce = Math.max(this.maxReadsAtOnce, ++this.readsAtOnce);
      await new Promise((resolve) => setImmediate(resolve));
      this.readsAtOnce--;
      if (this.isAway) throw new Error("the database is away");
      const found = this.all.get(conversationId);
      return found === undefined
        ? null
        : { accountId, conversationId, handoff: found.handoff, newestSeq: found.messages.length };
    },
    listLive: async (conversationId, afterSeq, limit) => {
      const messages = this.all.get(conversationId)?.messages ?? [];
      await new Promise((resolve) => setImmediate(resolve));
      if (this.isAway) throw new Error("the database is away");
      return { messages: messages.slice(afterSeq, afterSeq + limit), newestSeq: messages.length };
    },
    listChanged: async (known) =>
      known
        .map(({ conversationId, change, newestSeq }) => {
          const found = this.all.get(conversationId);
          const isSame = found?.messages.length === newestSeq && (found.handoff?.change ?? 0) === change;
          return { conversationId, isGone: found === undefined, isSame };
        })
        .filter(({ isSame }) => !isSame),
    recordSeen: async () => {},
  };
}

export interface FakeHub {
  readonly hub: LiveHub;
  readonly clock: ManualClock;
  /** Lets a second pass. */
  tick(): Promise<void>;
}

/** `isLost`: whether an announcement does not arrive. */
export function createHubs(
  count: number,
  store: LiveHubOptions["store"],
  { isLost = () => false, ...limits }: { isLost?: () => boolean; perAddress?: number; maxStreams?: number } = {},
): FakeHub[] {
  const heard: Parameters<Announcements["onReceived"]>[0][] = [];
  return Array.from({ length: count }, (_, number) => {
    const clock = createManualClock();
    let onSecond = () => {};
    const hub = createLiveHub({
      ...{ store, clock, log: createCapturedLog(), random: () => 0.5, lookEveryMs: 5 },
      getChangeMark: async () => 1,
      limits: { perAddress: 40, maxStreams: 10_000, ...limits },
      announcements: {
        isShared: count > 1,
        send(text) {
          if (Buffer.byteLength(text) > 500) return;
          for (const [at, listener] of heard.entries()) if (at !== number && !isLost()) listener({ text });
        },
        onReceived: (listener) => void heard.push(listener),
      },
      everySecond(tick) {
        onSecond = tick;
        return () => {
          onSecond = () => {};
        };
      },
    });
    async function tick() {
      clock.advance(1_000);
      onSecond();
      await settle();
    }
    return { hub, clock, tick };
  });
}

/** Lets everything happen that waits for nothing but turns of the loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export interface Follower {
  readonly events: LiveEvent[];
  readonly texts: () => string[];
  readonly types: () => string[];
  leave(): void;
}

/** Listens from `afterSeq` on. */
export async function follow(
  { hub }: FakeHub,
  conversations: FakeConversations,
  conversationId: string,
  options: Partial<Parameters<NonNullable<Awaited<ReturnType<LiveHub["listen"]>>>["start"]>[0]> = {},
): Promise<Follower> {
  const events: LiveEvent[] = [];
  const listening = await hub.listen(conversations.keyOf(conversationId), {
    take(event) {
      events.push(event);
      return undefined;
    },
  });
  if (listening === null) throw new Error("no such conversation");
  await listening.start({ afterSeq: 0, stays: false, right: plainRight, ...options });
  return {
    events,
    texts: () => events.flatMap((event) => (event.type === "message" ? [event.message.message.id] : [])),
    types: () => events.map((event) => (event.type === "end" ? `end ${event.reason}` : event.type)),
    leave: listening.leave,
  };
}

export function noteChanged({ hub }: FakeHub, conversations: FakeConversations, conversationId: string): void {
  hub.noteChanged({ accountId, conversationId, key: conversations.keyOf(conversationId), wrote: "person" });
}
