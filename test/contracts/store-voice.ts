/** What every storage engine must keep for voice. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NewVoiceSession, TranscriptMessage, VoiceAgent } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { day, firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const provider = "elevenlabs-convai";

export function voiceStoreContract(open: OpenStore): void {
  describe("voice", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account, { voiceId: "v1" });
    });
    afterEach(() => world.close());

    const agentOf = (agentId: string, settingsHash = "s1"): VoiceAgent => ({
      companionId: companion.id,
      provider,
      agentId,
      settingsHash,
    });

    async function keepAgent(agentId: string) {
      await world.store.voice.lockAgent(companion.id, "o1", 0, 1000);
      expect(await world.store.voice.saveAgent(agentOf(agentId), "o1", 500)).toBe(true);
      await world.store.voice.unlockAgent(companion.id, "o1");
    }

    async function outbox(): Promise<string[]> {
      const items = await world.store.voice.takeDueOutbox(world.clock.nowMs(), world.clock.nowMs() + 1, 100);
      return items.map((item) => item.agentId);
    }

    test("agents are locked for one owner at a time, until it ends or the time does", async () => {
      const { voice } = world.store;
      const owners = Array.from({ length: 10 }, (_, at) => voice.lockAgent(companion.id, `owner-${at}`, 0, 1000));
      const taken = await Promise.all(owners);
      expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
      const holder = `owner-${taken.indexOf(true)}`;
      await voice.unlockAgent(companion.id, "somebody else");
      expect(await voice.lockAgent(companion.id, "later", 999, 2000)).toBe(false);
      await voice.unlockAgent(companion.id, holder);
      expect(await voice.lockAgent(companion.id, "later", 999, 2000)).toBe(true);
      expect(await voice.lockAgent(companion.id, "after the time", 2000, 3000)).toBe(true);
    });

    test("a lock or an item from before the clock was set back by a year is not waited for", async () => {
      const { voice } = world.store;
      const yearMs = 365 * 86_400_000;
      expect(await voice.lockAgent(companion.id, "gone", yearMs, yearMs + 1000)).toBe(true);
      expect(await voice.lockAgent(companion.id, "later", 5000, 6000)).toBe(true);
      await voice.saveAgent(agentOf("agent-1"), "nobody", yearMs);
      expect(await voice.takeDueOutbox(5000, 6000, 10)).toMatchObject([{ agentId: "agent-1" }]);
    });

    test("agents are kept, and a replaced one goes to the outbox", async () => {
      const { voice } = world.store;
      expect(await voice.findAgent(companion.id)).toBeNull();
      await keepAgent("agent-1");
      expect(await voice.findAgent(companion.id)).toEqual(agentOf("agent-1"));
      const operator = await world.createAccount({ role: "operator" });
      expect(await voice.canUseAgent(operator.id, "agent-1")).toBe(false);
      expect(await voice.canUseAgent(operator.id, "agent-2")).toBe(true);
      expect(await outbox()).toEqual([]);
      await voice.lockAgent(companion.id, "o2", 0, 1000);
      expect(await voice.saveAgent(agentOf("agent-1", "s2"), "o2", 500)).toBe(true);
      expect(await outbox()).toEqual([]);
      expect(await voice.saveAgent(agentOf("agent-2", "s3"), "o2", 500)).toBe(true);
      expect(await voice.findAgent(companion.id)).toEqual(agentOf("agent-2", "s3"));
      expect(await outbox()).toEqual(["agent-1"]);
      expect(await voice.canUseAgent(operator.id, "agent-1")).toBe(false);
      await voice.finishOutbox(provider, "agent-1");
      expect(await voice.canUseAgent(operator.id, "agent-1")).toBe(true);
    });

    test("an agent made without the lock goes to the outbox itself", async () => {
      const { voice } = world.store;
      await keepAgent("agent-1");
      await voice.lockAgent(companion.id, "o1", 0, 1000);
      await voice.lockAgent(companion.id, "o2", 1000, 2000);
      expect(await voice.saveAgent(agentOf("agent-2"), "o1", 1500)).toBe(false);
      expect(await voice.saveAgent(agentOf("agent-1"), "o1", 1500)).toBe(false);
      expect(await voice.findAgent(companion.id)).toEqual(agentOf("agent-1"));
      expect(await outbox()).toEqual(["agent-2"]);
    });

    test("an agent whose companion went, or lost its voice, goes to the outbox", async () => {
      const { companions, voice } = world.store;
      await keepAgent("agent-1");
      await companions.update(account.id, companion.id, { voiceId: null }, world.context());
      expect(await voice.findAgent(companion.id)).toBeNull();
      expect(await outbox()).toEqual(["agent-1"]);
      await voice.lockAgent(companion.id, "o1", 0, 1000);
      expect(await voice.saveAgent(agentOf("agent-2"), "o1", 500)).toBe(false);
      await companions.update(account.id, companion.id, { voiceId: "v2" }, world.context());
      await keepAgent("agent-3");
      await companions.delete(account.id, companion.id, world.context());
      expect(await voice.saveAgent(agentOf("agent-4"), "o1", 500)).toBe(false);
      world.clock.advance(1);
      expect((await outbox()).sort()).toEqual(["agent-1", "agent-2", "agent-3", "agent-4"]);
    });

    test("an agent in the outbox cannot be used by a companion", async () => {
      await world.grantAgent(account, "agent-1");
      await keepAgent("agent-1");
      const refusal = { code: "invalid_request", errors: [{ param: "voice_agent_id" }] };
      await expect(world.createCompanion(account, { voiceAgentId: "agent-1" })).rejects.toMatchObject(refusal);
      await world.store.companions.delete(account.id, companion.id, world.context());
      await expect(world.createCompanion(account, { voiceAgentId: "agent-1" })).rejects.toMatchObject(refusal);
    });

    test("outbox items go to one taker at a time, oldest first, and come back when their time is up", async () => {
      const { voice } = world.store;
      for (const [at, agentId] of ["agent-1", "agent-2", "agent-3"].entries()) {
        await voice.lockAgent(companion.id, "o2", at * 10, at * 10 + 5);
        await voice.saveAgent(agentOf(agentId), "nobody", at * 10);
      }
      expect(await voice.takeDueOutbox(15, 100, 10)).toEqual([
        { provider, agentId: "agent-1", attempts: 1 },
        { provider, agentId: "agent-2", attempts: 1 },
      ]);
      const takers = await Promise.all([voice.takeDueOutbox(50, 100, 10), voice.takeDueOutbox(50, 100, 10)]);
      expect(takers.flat().map((item) => item.agentId)).toEqual(["agent-3"]);
      await voice.finishOutbox(provider, "agent-1");
      await voice.postponeOutbox(provider, "agent-2", 500);
      expect(await voice.takeDueOutbox(100, 200, 10)).toEqual([{ provider, agentId: "agent-3", attempts: 2 }]);
      expect(await voice.takeDueOutbox(500, 600, 1)).toEqual([{ provider, agentId: "agent-3", attempts: 3 }]);
    });
  });

  describe("voice sessions", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    const sessionId = systemIds.randomUuid();
    const visitorId = systemIds.randomUuid();

    function newSession(fields: Partial<NewVoiceSession> = {}): NewVoiceSession {
      const createdAt = world.clock.nowMs();
      const session = {
        providerConversationId: "conv-1",
        sessionId,
        visitorId,
        keyId: null,
        day,
        reservationId: null,
        createdAt,
      };
      return {
        sealedVisitor: null,
        ...session,
        ticketId: null,
        accountId: account.id,
        companionId: companion.id,
        ...fields,
      };
    }

    function spoken(text: string, createdAt: number): TranscriptMessage {
      return { id: systemIds.uuid(), role: "user", text, complete: true, createdAt };
    }

    test("are counted, and found by the provider's id", async () => {
      const { voice, usage } = world.store;
      await voice.startSession(newSession());
      await voice.startSession(newSession({ providerConversationId: null }));
      const createdAt = world.clock.nowMs();
      expect(await voice.findSession("conv-1")).toEqual({ companionId: companion.id, sessionId, visitorId, createdAt });
      expect(await voice.findSession("conv-2")).toBeNull();
      const query = { fromDay: day, toDay: day, groupBy: [], companionId: null, metadata: [] };
      expect(await usage.query(account.id, query)).toMatchObject([{ voiceSessions: 2 }]);
    });

    test("are found whatever text the provider's id is", async () => {
      const { conversations, voice } = world.store;
      for (const id of ["conv\0 1", "\0", "conv\ud800"]) {
        expect(await voice.findSession(id)).toBeNull();
        await voice.startSession(newSession({ providerConversationId: id }));
        expect(await voice.findSession(id)).toMatchObject({ companionId: companion.id });
        expect(
          (await voice.addTranscript(id, systemIds.uuid(), [spoken("Hello", world.clock.nowMs())], null)).isAdded,
        ).toBe(true);
        expect(
          (await voice.addTranscript(id, systemIds.uuid(), [spoken("Hello", world.clock.nowMs())], null)).isAdded,
        ).toBe(false);
      }
      const query = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };
      expect((await conversations.list(account.id, query, firstPage)).items).toMatchObject([{ messageCount: 3 }]);
    });

    test("count separately from messages, and not at all once the companion is deleted", async () => {
      const { companions, turns, voice } = world.store;
      expect(await voice.countDay(companion.id, day)).toBe(0);
      await turns.settle(world.turnOf(companion, { day }));
      await Promise.all(
        ["conv-1", "conv-2", null].map((id) => voice.startSession(newSession({ providerConversationId: id }))),
      );
      await voice.startSession(newSession({ providerConversationId: "conv-3", day: "2026-01-14" }));
      await turns.settle(world.turnOf(companion, { day }));
      expect(await voice.countDay(companion.id, day)).toBe(3);
      expect(await voice.countDay(companion.id, "2026-01-14")).toBe(1);
      expect(await turns.countDay(companion.id, day)).toBe(2);
      await companions.delete(account.id, companion.id, world.context());
      await voice.startSession(newSession({ providerConversationId: "conv-4" }));
      expect(await voice.countDay(companion.id, day)).toBe(0);
    });

    test("bring their transcript into the conversation by time, once, however often it is delivered", async () => {
      const { conversations, turns, voice } = world.store;
      await voice.startSession(newSession());
      const key = { companionId: companion.id, sessionId, visitorId };
      const before = world.turnOf(companion, { key, said: "typed first" });
      const after = world.turnOf(companion, { key, said: "typed last" });
      await turns.settle(before);
      await turns.settle(after);
      const transcript = [spoken("spoken", (before.messages[0]?.createdAt ?? 0) + 500)];
      const deliveries = Array.from({ length: 5 }, () =>
        voice.addTranscript("conv-1", systemIds.uuid(), transcript, null),
      );
      const taken = await Promise.all(deliveries);
      expect(taken.filter(({ isAdded }) => isAdded)).toHaveLength(1);
      const found = await conversations.find(account.id, before.conversationId);
      expect(found?.messages.map((message) => [message.channel, textOf(message)])).toEqual([
        ["text", "typed first"],
        ["text", "Hi there"],
        ["voice", "spoken"],
        ["text", "typed last"],
        ["text", "Hi there"],
      ]);
      expect(found?.conversation.messageCount).toBe(5);
      expect((await turns.listHistory(key, 1000)).map(textOf)[2]).toBe("spoken");
    });

    test("begin a conversation where there was none, but not for nothing", async () => {
      const { conversations, voice } = world.store;
      await voice.startSession(newSession());
      await voice.startSession(newSession({ providerConversationId: "conv-2" }));
      expect((await voice.addTranscript("conv-2", systemIds.uuid(), [], null)).isAdded).toBe(true);
      expect((await voice.addTranscript("conv-2", systemIds.uuid(), [spoken("late", 5)], null)).isAdded).toBe(false);
      const conversationId = systemIds.uuid();
      expect((await voice.addTranscript("conv-1", conversationId, [spoken("hello", 5)], null)).isAdded).toBe(true);
      expect((await voice.addTranscript("unknown", systemIds.uuid(), [spoken("hello", 5)], null)).isAdded).toBe(false);
      const found = await conversations.find(account.id, conversationId);
      expect(found?.conversation).toMatchObject({ sessionId, visitorId, messageCount: 1, createdAt: 5, updatedAt: 5 });
    });

    test("bring what is known of a verified visitor into the conversation with the transcript", async () => {
      const { conversations, turns, voice } = world.store;
      const verified = { visitorId: toVerifiedId("digest"), sealedVisitor: "sealed" };
      await voice.startSession(newSession(verified));
      await voice.startSession(
        newSession({ ...verified, sessionId: systemIds.randomUuid(), providerConversationId: "conv-2" }),
      );
      const turn = world.turnOf(companion, {
        key: { companionId: companion.id, sessionId, visitorId: verified.visitorId },
      });
      await turns.settle(turn);
      const conversationId = systemIds.uuid();
      expect((await voice.addTranscript("conv-1", systemIds.uuid(), [spoken("hello", 5)], null)).isAdded).toBe(true);
      expect((await voice.addTranscript("conv-2", conversationId, [spoken("hello", 5)], null)).isAdded).toBe(true);
      for (const id of [turn.conversationId, conversationId]) {
        expect((await conversations.find(account.id, id))?.conversation).toMatchObject(verified);
      }
    });

    test("follow a conversation that a verified visitor takes over, so that the transcript is theirs", async () => {
      const { conversations, turns, voice } = world.store;
      const key = { companionId: companion.id, sessionId, visitorId };
      await turns.settle(world.turnOf(companion, { key }));
      await voice.startSession(newSession());
      await voice.startSession(newSession({ providerConversationId: "conv-2", sessionId: systemIds.randomUuid() }));
      const verified = { id: toVerifiedId("digest"), sealed: "sealed" };
      expect(await conversations.merge(key, verified)).toBe(true);
      expect(await voice.findSession("conv-1")).toMatchObject({ visitorId: verified.id });
      expect(await voice.findSession("conv-2")).toMatchObject({ visitorId });
      expect((await voice.addTranscript("conv-1", systemIds.uuid(), [spoken("hello", 5)], null)).isAdded).toBe(true);
      expect(await turns.listHistory({ ...key, visitorId: verified.id }, 1000)).toHaveLength(3);
    });

    test("of an erased visitor, of a deleted companion or of long ago take no transcript", async () => {
      const { companions, conversations, voice } = world.store;
      const sibling = await world.createCompanion(account);
      await voice.startSession(newSession());
      await voice.startSession(newSession({ providerConversationId: "conv-2", companionId: sibling.id }));
      await voice.startSession(newSession({ providerConversationId: "conv-3", visitorId: null, createdAt: 100 }));
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      await companions.delete(account.id, sibling.id, world.context());
      expect(await voice.deleteSessions(100, 10)).toBe(0);
      expect(await voice.deleteSessions(101, 10)).toBe(1);
      for (const id of ["conv-1", "conv-2", "conv-3"]) {
        expect(await voice.findSession(id)).toBeNull();
        expect((await voice.addTranscript(id, systemIds.uuid(), [spoken("late", 5)], null)).isAdded).toBe(false);
      }
    });
  });
}
