/** What every storage engine must do with what visitors leave for the team, and with figures about conversations. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { HandoffChange, MailAdded, NewContact, NewMail, StoredRating } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { type ConversationKey, textParts, uncounted } from "../../src/domain/conversation.ts";
import type { HandoffEventType, Person } from "../../src/domain/handoff.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function feedbackStoreContract(open: OpenStore): void {
  let world: StoreWorld;
  let account: Account;
  let companion: Companion;
  beforeEach(async () => {
    world = await openWorld(open);
    account = await world.createAccount();
    companion = await world.createCompanion(account, { retentionDays: 30 });
  });
  afterEach(() => world.close());

  const now = () => world.clock.nowMs();
  const ada: Person = { id: systemIds.uuid(), name: "Ada", memberId: null, keyId: null };
  const newKey = (of: Companion = companion): ConversationKey => {
    return { companionId: of.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
  };

  async function talk(key: ConversationKey, messageId: string | null = null, of: Companion = companion) {
    const turn = world.turnOf(of, { key, messageId });
    await world.store.turns.settle(turn);
    return turn;
  }

  async function revise(key: ConversationKey, change: HandoffChange, newConversationId: string | null = null) {
    const request = { conversation: { key }, newConversationId, clientId: null, clientIdOf: "visitor" } as const;
    const context = world.context({ actor: { kind: "visitor", id: null, ipPrefix: null, requestId: null } });
    return await world.store.handoffs.revise({ ...request, arrivalMark: null, decide: () => change }, context);
  }

  const contactAt = (consentedAt: number, sealed = "sealed"): NewContact => {
    return { sealed, consentText: "Write to me.", consentedAt };
  };

  async function leaveContact(key: ConversationKey, contact = contactAt(now())): Promise<string> {
    const fields = { status: "open", hasContact: true } as const;
    const revised = await revise(key, { fields, contact }, systemIds.uuid());
    return revised?.conversationId ?? "";
  }

  describe("contacts", () => {
    test("the newest counts, and how often mail went to it stays", async () => {
      const { feedback } = world.store;
      const key = newKey();
      const conversationId = await leaveContact(key, contactAt(1_000, "first"));
      expect(await feedback.findContact(account.id, conversationId)).toEqual({
        ...{ ...contactAt(1_000, "first"), conversationId, companionId: companion.id },
        ...{ mails: 0, mailedAt: null, mailedSeq: 0 },
      });
      await revise(key, { contactMail: { seq: 7, atMs: 2_000 } });
      await leaveContact(key, contactAt(3_000, "second"));
      expect(await feedback.findContact(account.id, conversationId)).toMatchObject({
        ...{ sealed: "second", consentedAt: 3_000, mails: 1, mailedAt: 2_000, mailedSeq: 7 },
      });
      expect(await world.store.handoffs.find(key)).toMatchObject({ status: "open", hasContact: true });
      expect(await feedback.findContact(account.id, systemIds.uuid())).toBeNull();
    });

    test("are listed by consent, of a companion and a time, for their own account alone", async () => {
      const { feedback } = world.store;
      const other = await world.createCompanion(account);
      const ids: string[] = [];
      for (const [at, of] of [companion, other, companion, companion].entries()) {
        ids.push(await leaveContact(newKey(of), contactAt(1_000 + at)));
      }
      const list = async (fields = {}, page = {}) => {
        const query = { companionId: null, fromMs: null, toMs: null, ...fields };
        const found = await feedback.listContacts(account.id, query, { ...firstPage, ...page });
        return { ids: found.items.map(({ id }) => ids.indexOf(id)), next: found.nextAfterId };
      };
      expect(await list()).toEqual({ ids: [3, 2, 1, 0], next: null });
      expect(await list({}, { order: "asc" })).toEqual({ ids: [0, 1, 2, 3], next: null });
      expect(await list({ companionId: companion.id, fromMs: 1_001 })).toEqual({ ids: [3, 2], next: null });
      expect(await list({ toMs: 1_002 })).toEqual({ ids: [1, 0], next: null });
      expect(await list({}, { limit: 3 })).toEqual({ ids: [3, 2, 1], next: ids[1] ?? "" });
      expect(await list({}, { limit: 3, afterId: ids[1], afterUpdatedAt: 1_001 })).toEqual({ ids: [0], next: null });
      // The one at which the page ended is gone.
      const gone = { afterId: systemIds.uuid(), afterUpdatedAt: 1_001 };
      expect(await list({}, gone)).toEqual({ ids: [1, 0], next: null });
      const stranger = await world.createAccount({ email: "stranger@example.com" });
      expect(await feedback.findContact(stranger.id, ids[0] ?? "")).toBeNull();
      const query = { companionId: null, fromMs: null, toMs: null };
      expect((await feedback.listContacts(stranger.id, query, firstPage)).items).toEqual([]);
      const theirs = { ...query, companionId: companion.id };
      expect((await feedback.listContacts(stranger.id, theirs, firstPage)).items).toEqual([]);
    });

    test("are listed no more once their companion is deleted, though its conversations go later", async () => {
      const { feedback } = world.store;
      const kept = await world.createCompanion(account);
      const gone = await leaveContact(newKey());
      const left = await leaveContact(newKey(kept));
      // What is removed in the background is still there.
      await world.store.companions.delete(account.id, companion.id, world.context());
      const query = { companionId: null, fromMs: null, toMs: null };
      const { items } = await feedback.listContacts(account.id, query, firstPage);
      expect(items.map(({ id }) => id)).toEqual([left]);
      expect(await feedback.findContact(account.id, gone)).toBeNull();
      expect(await feedback.deleteContact(account.id, gone, world.context())).toBe(false);
    });

    test("are deleted with mail that waits for them, and are gone with their conversation", async () => {
      const { feedback, mails, handoffs, conversations } = world.store;
      const key = newKey();
      const conversationId = await leaveContact(key);
      await revise(key, { fields: { answerMailAtMs: 5 }, mails: [mailOf("answer", conversationId)] });
      const stranger = await world.createAccount({ email: "stranger@example.com" });
      expect(await feedback.deleteContact(stranger.id, conversationId, world.context())).toBe(false);
      expect(await feedback.deleteContact(account.id, conversationId, world.context())).toBe(true);
      expect(await feedback.deleteContact(account.id, conversationId, world.context())).toBe(false);
      expect(await handoffs.find(key)).toMatchObject({ hasContact: false, answerMailAtMs: null, status: "open" });
      expect(await mails.takeDue(now(), now() + 1, 10)).toEqual([]);
      expect(await feedback.findNextMail()).toBeNull();

      await leaveContact(key);
      await revise(key, { fields: { noticeAtMs: 5 }, mails: [mailOf("notice", conversationId)] });
      await conversations.delete(account.id, conversationId, world.context());
      expect(await feedback.findContact(account.id, conversationId)).toBeNull();
      expect(await mails.takeDue(now(), now() + 1, 10)).toEqual([]);
      expect(await feedback.findNextMail()).toBeNull();
    });
  });

  const mailOf = (kind: NewMail["kind"], conversationId: string): NewMail => ({
    ...{ id: systemIds.uuid(), accountId: account.id, companionId: companion.id, conversationId, memberId: null, kind },
    ...{ sealed: "sealed", createdAtMs: now(), dueAtMs: now(), expiresAtMs: null },
  });

  describe("mail about conversations", () => {
    test("is kept in the commit of the record, and who sends it is woken after that", async () => {
      const { mails } = world.store;
      const key = newKey();
      const conversationId = await leaveContact(key);
      const heard: [string, readonly MailAdded[]][] = [];
      mails.onAdded((accountId, added) => void heard.push([accountId, added]));
      const mail = mailOf("notice", conversationId);
      await revise(key, { fields: { noticedAtMs: now() }, mails: [mail] });
      expect(heard).toEqual([[account.id, [{ result: "kept" }]]]);
      expect(await mails.takeDue(now(), now() + 1, 10)).toEqual([{ ...mail, tries: 0 }]);

      const request = {
        conversation: { key },
        newConversationId: null,
        clientId: null,
        clientIdOf: "visitor",
      } as const;
      const decide = (): never => {
        throw new Error("refused");
      };
      await expect(
        world.store.handoffs.revise({ ...request, arrivalMark: null, decide }, world.context()),
      ).rejects.toThrow("refused");
      expect(heard).toHaveLength(1);
    });

    test("is due when the earlier of both times has come", async () => {
      const { feedback } = world.store;
      const [one, other] = [newKey(), newKey()];
      await leaveContact(one);
      await leaveContact(other);
      expect(await feedback.findNextMail()).toBeNull();
      await revise(one, { fields: { noticeAtMs: 300, answerMailAtMs: 200 } });
      await revise(other, { fields: { noticeAtMs: 100 } });
      expect(await feedback.findNextMail()).toBe(100);
      const due = async (atMs: number) => (await feedback.listMailDue(atMs, 10)).map(({ key }) => key);
      expect(await due(99)).toEqual([]);
      expect(await due(200)).toEqual([other, one]);
      expect(await due(199)).toEqual([other]);
      await revise(other, { fields: { noticeAtMs: null } });
      expect(await due(1_000)).toEqual([one]);
    });
  });

  describe("ratings", () => {
    const up: StoredRating = { rating: "up", reasons: [], sealedComment: null, createdAt: 1_000 };
    const rate = (key: ConversationKey, clientId: string, rating: StoredRating | null) =>
      world.store.feedback.rate({ key, clientId, rating, event: () => null });

    test("are of replies of the companion to this visitor, and the last one counts", async () => {
      const { feedback } = world.store;
      const [key, clientId] = [newKey(), systemIds.randomUuid()];
      const { conversationId, messages } = await talk(key, clientId);
      const reply = messages.at(-1);
      const replyId = reply?.id ?? "";
      const list = (of = account, replies = messages) => feedback.listRatings(of.id, conversationId, replies);
      expect(await rate(key, systemIds.randomUuid(), up)).toBe(false);
      expect(await rate(newKey(), clientId, up)).toBe(false);
      expect(await list()).toEqual(new Map());

      expect(await rate(key, clientId, up)).toBe(true);
      expect(await list()).toEqual(new Map([[replyId, up]]));
      const down: StoredRating = { rating: "down", reasons: ["wrong"], sealedComment: "sealed", createdAt: 2_000 };
      expect(await rate(key, clientId, down)).toBe(true);
      expect(await list()).toEqual(new Map([[replyId, down]]));
      expect(await list(await world.createAccount())).toEqual(new Map());

      // Only of those that are asked for.
      const next = systemIds.randomUuid();
      const { messages: later } = await talk(key, next);
      await rate(key, next, up);
      expect(await list()).toEqual(new Map([[replyId, down]]));
      expect([...(await list(account, [...messages, ...later])).values()]).toEqual([down, up]);
      expect(await list(account, [])).toEqual(new Map());
      expect(await rate(key, clientId, null)).toBe(true);
      expect(await list()).toEqual(new Map());
    });

    test("are none of what was kept for people", async () => {
      const [key, clientId] = [newKey(), systemIds.randomUuid()];
      await talk(key);
      const message = { id: systemIds.uuid(), role: "user", channel: "text", complete: true } as const;
      const kept = { ...message, ...uncounted, parts: textParts("Hello?"), createdAt: now() };
      await revise(key, { message: { message: kept, author: null, clientId, sealedVisitor: null } });
      expect(await rate(key, clientId, up)).toBe(false);
    });
  });

  describe("insights", () => {
    const dayMs = 24 * 60 * 60_000;
    const count = (fields = {}, of = account) =>
      world.store.insights.count(
        of.id,
        { fromMs: now() - dayMs, toMs: now() + dayMs, companionIds: null, ...fields },
        now(),
      );
    const line = (type: HandoffEventType) => {
      return { type, atMs: now(), by: { type: "visitor" } as const, sealedReason: null };
    };

    test("are nothing where nothing happened", async () => {
      expect(await count()).toEqual({
        ...{ conversations: new Map(), replies: 0, ratings: { up: 0, down: 0 }, resolved: 0, unresolved: 0 },
        ...{ unanswered: 0, events: new Map(), contacts: 0, answers: new Map(), personMs: 0 },
      });
    });

    test("count what happened in their time, to their companions, as long as it is not erased", async () => {
      const { conversations, feedback } = world.store;
      const other = await world.createCompanion(account);
      const [key, clientId] = [newKey(), systemIds.randomUuid()];
      const { conversationId } = await talk(key, clientId);
      await talk(newKey(other), null, other);
      const rating = { rating: "down", reasons: [], sealedComment: null, createdAt: now() } as const;
      await feedback.rate({ key, clientId, rating, event: () => null });
      await leaveContact(key);
      await revise(key, { fields: { state: "waiting", owedSinceMs: now(), sinceMs: now() }, events: [line("asked")] });
      world.clock.advance(4_000);
      await revise(key, { fields: { state: "person", person: ada, sinceMs: now() }, events: [line("taken")] });
      world.clock.advance(5_600);
      const message = { id: systemIds.uuid(), role: "assistant", channel: "text", complete: true } as const;
      const written = { ...message, ...uncounted, parts: textParts("Here I am."), createdAt: now() };
      const clientIdOf = { author: ada, clientId: systemIds.uuid(), sealedVisitor: null };
      await revise(key, { fields: { owedSinceMs: null }, message: { message: written, ...clientIdOf } });
      // A second one answers nothing.
      const again = { message: { ...written, id: systemIds.uuid() }, ...clientIdOf, clientId: systemIds.uuid() };
      await revise(key, { message: again });

      const held = await count();
      expect(held).toMatchObject({
        ...{ replies: 2, ratings: { up: 0, down: 1 }, contacts: 1, answers: new Map([[10, 1]]), personMs: 5_600 },
        events: new Map([
          ["asked", 1],
          ["taken", 1],
        ]),
      });
      expect([...held.conversations.values()].reduce((sum, more) => sum + more, 0)).toBe(2);
      world.clock.advance(1_000);
      await revise(key, { fields: { state: "companion", person: null, sinceMs: now() } });
      world.clock.advance(1_000);
      expect((await count()).personMs).toBe(6_600);

      expect(await count({ companionIds: new Set([other.id]) })).toMatchObject({
        ...{ replies: 1, ratings: { up: 0, down: 0 }, contacts: 0, events: new Map(), personMs: 0 },
        answers: new Map(),
      });
      expect(await count({ companionIds: new Set([companion.id]) })).toMatchObject({ replies: 1, contacts: 1 });
      const stranger = await count({ companionIds: new Set([companion.id]) }, await world.createAccount());
      expect(stranger).toMatchObject({ replies: 0, contacts: 0, personMs: 0 });
      expect(stranger.conversations.size).toBe(0);
      expect(await count({ fromMs: now() + 1, toMs: now() + dayMs })).toMatchObject({ replies: 0, contacts: 0 });
      await conversations.delete(account.id, conversationId, world.context());
      expect(await count()).toMatchObject({ replies: 1, contacts: 0, events: new Map(), personMs: 0 });
    });

    test("take the visitor's own word as long as nothing is written after it", async () => {
      const key = newKey();
      await talk(key);
      const say = (isResolved: boolean | null, resolvedSeq: number) =>
        revise(key, { fields: { isResolved, resolvedSeq, resolvedAtMs: isResolved === null ? null : now() } });
      await say(false, 2);
      expect(await count()).toMatchObject({ resolved: 0, unresolved: 1 });
      await say(true, 2);
      expect(await count()).toMatchObject({ resolved: 1, unresolved: 0 });
      await talk(key);
      expect(await count()).toMatchObject({ resolved: 0, unresolved: 0 });
      await say(true, 4);
      expect(await count()).toMatchObject({ resolved: 1, unresolved: 0 });
      await say(null, 4);
      expect(await count()).toMatchObject({ resolved: 0, unresolved: 0 });
    });
  });
}
