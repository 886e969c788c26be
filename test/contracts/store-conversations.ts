/** What every storage engine must do with conversations. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ConversationQuery, MessagePosition } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { type ConversationKey, textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { day, firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const anything: ConversationQuery = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };
const dayMs = 24 * 60 * 60_000;

export function conversationStoreContract(open: OpenStore): void {
  describe("conversations", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    /** Returns the conversation's id. */
    async function converse(
      fields: { of?: Companion; visitorId?: string; said?: string; answered?: string; atMs?: number } = {},
    ) {
      const { of = companion, visitorId = null, ...texts } = fields;
      const key = { companionId: of.id, sessionId: systemIds.randomUuid(), visitorId };
      const turn = world.turnOf(of, { key, ...texts });
      await world.store.turns.settle(turn);
      return turn.conversationId;
    }

    async function list(query: Partial<ConversationQuery>): Promise<string[]> {
      const page = await world.store.conversations.list(account.id, { ...anything, ...query }, firstPage);
      return page.items.map((item) => item.id);
    }

    test("are listed by companion, visitor and time, newest first", async () => {
      const sibling = await world.createCompanion(account);
      const visitorId = systemIds.randomUuid();
      const first = await converse({ visitorId });
      const second = await converse({ of: sibling, visitorId });
      const secondAt = world.clock.nowMs();
      const third = await converse();
      expect(await list({})).toEqual([third, second, first]);
      expect(await list({ companionId: companion.id })).toEqual([third, first]);
      expect(await list({ visitorId })).toEqual([second, first]);
      expect(await list({ visitorId, companionId: sibling.id })).toEqual([second]);
      expect(await list({ fromMs: secondAt })).toEqual([third, second]);
      expect(await list({ toMs: secondAt })).toEqual([first]);
      expect(await list({ fromMs: secondAt, toMs: secondAt + 1 })).toEqual([second]);
      expect(await list({ companionId: systemIds.uuid() })).toEqual([]);
      expect(await list({ visitorId: "" })).toEqual([]);
    });

    test("are listed in pages that new ones and deleted ones do not shift", async () => {
      const { conversations } = world.store;
      const ids = [];
      for (let at = 0; at < 7; at++) ids.unshift(await converse());
      const first = await conversations.list(account.id, anything, { limit: 3, afterId: null });
      expect(first.items.map((item) => item.id)).toEqual(ids.slice(0, 3));
      await converse();
      await conversations.delete(account.id, first.nextAfterId ?? "", world.context());
      const second = await conversations.list(account.id, anything, { limit: 3, afterId: first.nextAfterId });
      expect(second.items.map((item) => item.id)).toEqual(ids.slice(3, 6));
      const third = await conversations.list(account.id, anything, { limit: 3, afterId: second.nextAfterId });
      expect(third.items.map((item) => item.id)).toEqual(ids.slice(6));
      expect(third.nextAfterId).toBeNull();
    });

    test("are not passed over when a deleted one follows a call that began before them", async () => {
      const { conversations } = world.store;
      const atMs = world.clock.nowMs();
      const [first, second] = [await converse({ atMs }), await converse({ atMs: atMs + 1000 })];
      const call = await converse({ atMs: atMs - 1000 });
      const last = await converse({ atMs: atMs + 2000 });
      await conversations.delete(account.id, last, world.context());
      const rest = await conversations.list(account.id, anything, { limit: 3, afterId: last });
      expect(rest.items.map(({ id }) => id)).toEqual([second, first, call]);
    });

    test("of one millisecond are all listed when each page is deleted before the next is read", async () => {
      const { conversations, turns } = world.store;
      const atMs = world.clock.nowMs();
      const idAt = (epochMs: number) => Bun.randomUUIDv7("hex", epochMs);
      const [oldest = "", begunFirst = "", begunLast = ""] = [idAt(atMs - 1), idAt(atMs), idAt(atMs)];
      // The one that began last has its reply first.
      for (const conversationId of [oldest, begunLast, begunFirst]) {
        const createdAt = conversationId === oldest ? atMs - 1 : atMs;
        const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: null };
        await turns.settle(world.turnOf(companion, { key, conversationId, atMs: createdAt }));
      }
      const seen: string[] = [];
      for (let afterId: string | null = null; ; ) {
        const page = await conversations.list(account.id, anything, { limit: 1, afterId });
        seen.push(...page.items.map(({ id }) => id));
        for (const { id } of page.items) await conversations.delete(account.id, id, world.context());
        if (page.nextAfterId === null) break;
        afterId = page.nextAfterId;
      }
      expect(seen.at(-1)).toBe(oldest);
      expect(seen.toSorted()).toEqual([oldest, begunFirst, begunLast].toSorted());
    });

    test("are read a page of messages at a time, newest page first, whatever instant they share", async () => {
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: null };
      const said: string[] = [];
      let id = "";
      for (let at = 0; at < 30; at++) {
        // Whole turns within one millisecond, and several of them.
        const atMs = 1_000_000 + Math.floor(at / 4);
        const words = { said: `q${at}`, answered: `a${at}`, atMs, answeredAtMs: atMs };
        const turn = world.turnOf(companion, { key, ...words });
        await world.store.turns.settle(turn);
        said.push(`q${at}`, `a${at}`);
        if (at === 0) id = turn.conversationId;
      }
      for (const limit of [1, 7, 20, 60, 200]) {
        const pages: string[][] = [];
        for (let before: MessagePosition | null = null; ; ) {
          const page = await world.store.conversations.find(account.id, id, { limit, before });
          expect(page?.messages.length).toBeLessThanOrEqual(limit);
          pages.unshift(page?.messages.map(textOf) ?? []);
          before = page?.nextBefore ?? null;
          if (before === null) break;
        }
        expect(pages.flat()).toEqual(said);
        expect(pages).toHaveLength(Math.ceil(60 / limit));
      }
      const gone = { createdAt: 1_000_003, id: systemIds.uuid() };
      const older = await world.store.conversations.find(account.id, id, { limit: 200, before: gone });
      expect(older?.messages.map(textOf)).toEqual(said.slice(0, 24));
    });

    test("of long messages come in shorter pages, none of them empty", async () => {
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: null };
      const answered = "x".repeat(900_000);
      const first = world.turnOf(companion, { key, answered });
      await world.store.turns.settle(first);
      for (let at = 1; at < 6; at++) await world.store.turns.settle(world.turnOf(companion, { key, answered }));
      let read = 0;
      for (let before: MessagePosition | null = null; ; ) {
        const page = await world.store.conversations.find(account.id, first.conversationId, { limit: 100, before });
        const bytes = page?.messages.reduce((sum, message) => sum + textOf(message).length, 0) ?? 0;
        expect(bytes).toBeLessThan(3_000_000);
        expect(bytes).toBeGreaterThan(0);
        read += page?.messages.length ?? 0;
        before = page?.nextBefore ?? null;
        if (before === null) break;
      }
      expect(read).toBe(12);
    });

    test("are searched by part of any message, in any case", async () => {
      const asked = await converse({ said: "Wo ist der ÄRZTE-Ausweis?", answered: "Hier." });
      const answered = await converse({ said: "Hm", answered: "It costs 100% of nothing" });
      expect(await list({ q: "ärzte-aus" })).toEqual([asked]);
      expect(await list({ q: "100%" })).toEqual([answered]);
      expect(await list({ q: "_" })).toEqual([]);
      expect(await list({ q: "i" })).toEqual([answered, asked]);
      expect(await list({ q: "nothing", companionId: systemIds.uuid() })).toEqual([]);
    });

    test("found by a search come in pages, past many that do not match", async () => {
      const { conversations } = world.store;
      const ids = [];
      for (let at = 0; at < 130; at++) {
        const id = await converse({ said: at % 40 === 0 ? "a needle" : "hay" });
        if (at % 40 === 0) ids.unshift(id);
      }
      const query = { ...anything, q: "needle" };
      const first = await conversations.list(account.id, query, { limit: 3, afterId: null });
      expect(first.items.map((item) => item.id)).toEqual(ids.slice(0, 3));
      const second = await conversations.list(account.id, query, { limit: 3, afterId: first.nextAfterId });
      expect(second.items.map((item) => item.id)).toEqual(ids.slice(3));
      expect(second.nextAfterId).toBeNull();
    });

    test("are out of reach for another account", async () => {
      const { conversations } = world.store;
      const other = await world.createAccount();
      const id = await converse();
      expect(await conversations.find(other.id, id)).toBeNull();
      expect(await conversations.delete(other.id, id, world.context())).toBe(false);
      expect((await conversations.list(other.id, anything, firstPage)).items).toEqual([]);
      const ofCompanion = { ...anything, companionId: companion.id };
      expect((await conversations.list(other.id, ofCompanion, firstPage)).items).toEqual([]);
      expect(await conversations.find(account.id, id)).not.toBeNull();
    });

    test("are gone once deleted, and their session begins anew", async () => {
      const { store } = world;
      const turn = world.turnOf(companion);
      await store.turns.settle(turn);
      expect(await store.conversations.delete(account.id, turn.conversationId, world.context())).toBe(true);
      expect(await store.conversations.delete(account.id, turn.conversationId, world.context())).toBe(false);
      expect(await store.conversations.find(account.id, turn.conversationId)).toBeNull();
      expect(await store.turns.listHistory(turn.key, 1000)).toEqual([]);
      const again = { ...world.turnOf(companion), key: turn.key };
      await store.turns.settle(again);
      expect((await store.conversations.find(account.id, again.conversationId))?.messages).toHaveLength(2);
    });

    test("of an erased visitor are gone, with that companion only, and the trail does not name the visitor", async () => {
      const { audit, conversations } = world.store;
      const sibling = await world.createCompanion(account);
      const [visitorId, otherVisitor] = [systemIds.randomUuid(), systemIds.randomUuid()];
      await converse({ visitorId });
      await converse({ visitorId });
      const kept = [
        await converse({ of: sibling, visitorId }),
        await converse({ visitorId: otherVisitor }),
        await converse(),
      ];
      const erase = (accountId: string) =>
        conversations.eraseVisitors(accountId, companion.id, [visitorId], world.context());
      expect(await erase(systemIds.uuid())).toBe(false);
      expect(await erase(account.id)).toBe(true);
      expect(await list({})).toEqual(kept.reverse());
      expect(await erase(account.id)).toBe(true);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({ action: "visitor.erase", targetId: companion.id });
      expect(JSON.stringify(trail)).not.toContain(visitorId);
    });

    test("of several ids of one visitor are erased in one go, and all that is known of them", async () => {
      const { audit, conversations, turns } = world.store;
      const verifiedId = toVerifiedId("digest");
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: verifiedId };
      const visitor = { sealed: "sealed", isLimited: true };
      await turns.settle(world.turnOf(companion, { key, visitor }));
      const visitorId = systemIds.randomUuid();
      for (let at = 0; at < 3; at++) await converse({ visitorId });
      const kept = await converse({ visitorId: systemIds.randomUuid() });
      const underWay = [key, { ...key, visitorId }].map((one) => world.turnOf(companion, { key: one }));
      const erased = [systemIds.randomUuid(), visitorId, verifiedId];
      expect(await conversations.eraseVisitors(account.id, companion.id, erased, world.context())).toBe(true);
      for (const turn of underWay) await turns.settle(turn);
      expect(await list({})).toEqual([kept]);
      expect(await turns.countVisitorDay(companion.id, verifiedId, day)).toBe(0);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items.filter(({ action }) => action === "visitor.erase")).toHaveLength(1);
      for (const id of erased) expect(JSON.stringify(trail)).not.toContain(id);
    });

    describe("that a verified visitor takes over", () => {
      const verified = { id: toVerifiedId("digest"), sealed: "sealed" };

      function newKey(visitorId: string | null = systemIds.randomUuid()): ConversationKey {
        return { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
      }

      test("come with all that was said, and with the names of their exchanges", async () => {
        const { conversations, turns } = world.store;
        for (const key of [newKey(), newKey(null)]) {
          const messageId = systemIds.randomUuid();
          const turn = world.turnOf(companion, { key, messageId, said: "before" });
          await turns.settle(turn);
          expect(await conversations.merge(key, verified)).toBe(true);
          const taken = { ...key, visitorId: verified.id };
          expect((await turns.listHistory(taken, 1000)).map(textOf)).toEqual(["Hi there", "before"]);
          expect(await turns.findExchange(taken, messageId)).toMatchObject({ question: "before" });
          expect(await turns.findExchange(key, messageId)).toBeNull();
          expect(await turns.listHistory(key, 1000)).toEqual([]);
          const found = await conversations.find(account.id, turn.conversationId);
          expect(found?.conversation).toMatchObject({ ...taken, sealedVisitor: "sealed", messageCount: 2 });
          expect(await list({ visitorId: verified.id })).toContain(turn.conversationId);
        }
      });

      test("are taken once, by whoever comes first, and the session begins anew without a visitor", async () => {
        const { conversations, turns } = world.store;
        const key = newKey();
        await turns.settle(world.turnOf(companion, { key }));
        const rivals = Array.from({ length: 5 }, (_, at) => ({ id: toVerifiedId(`digest-${at}`), sealed: "s" }));
        const taken = await Promise.all(rivals.map((rival) => conversations.merge(key, rival)));
        expect(taken.filter((isTaken) => isTaken)).toHaveLength(1);
        await turns.settle(world.turnOf(companion, { key, said: "anew" }));
        expect((await turns.listHistory(key, 1000)).map(textOf)).toEqual(["Hi there", "anew"]);
      });

      test("change nothing where the visitor has that session, where there is none, and for another's", async () => {
        const { conversations, turns } = world.store;
        const key = newKey();
        const own = { ...key, visitorId: verified.id };
        await turns.settle(world.turnOf(companion, { key, said: "anonymous" }));
        await turns.settle(
          world.turnOf(companion, { key: own, said: "own", visitor: { sealed: "s", isLimited: false } }),
        );
        const before = await conversations.list(account.id, anything, firstPage);
        expect(await conversations.merge(key, verified)).toBe(false);
        expect(await conversations.merge(newKey(), verified)).toBe(false);
        expect(await conversations.merge({ ...key, visitorId: null }, verified)).toBe(false);
        const other = { id: toVerifiedId("other"), sealed: "other" };
        expect(await conversations.merge(own, other)).toBe(false);
        expect(await conversations.merge(own, verified)).toBe(false);
        expect(await conversations.list(account.id, anything, firstPage)).toEqual(before);
      });

      test("go with that visitor's erasure", async () => {
        const { conversations, turns } = world.store;
        const key = newKey();
        await turns.settle(world.turnOf(companion, { key }));
        await conversations.merge(key, verified);
        await conversations.eraseVisitors(account.id, companion.id, [verified.id], world.context());
        expect(await list({})).toEqual([]);
      });

      test("stay anonymous if the visitor is erased after asking for them, but not for one who comes back", async () => {
        const { conversations, turns } = world.store;
        const key = newKey();
        const turn = world.turnOf(companion, { key });
        await turns.settle(turn);
        const { arrivalMark } = world.turnOf(companion);
        await conversations.eraseVisitors(account.id, companion.id, [verified.id], world.context());
        expect(await conversations.merge(key, { ...verified, arrivalMark })).toBe(false);
        expect(await list({})).toEqual([turn.conversationId]);
        const later = world.turnOf(companion);
        expect(await conversations.merge(key, { ...verified, arrivalMark: later.arrivalMark })).toBe(true);
      });
    });

    test("are listed by what went wrong in them, who spoke and how, page by page, and shown by their first and last words", async () => {
      const { conversations, turns, unanswered } = world.store;
      const ada = toVerifiedId("ada");
      const plain = await converse({
        said: ` Where\n is my ORDER?${" x".repeat(200)}`,
        answered: "İn the bank, order 7",
      });
      const failing = world.turnOf(companion, { endCode: "upstream_error" });
      await turns.settle(failing);
      const left = world.turnOf(companion, { messageId: systemIds.uuid(), endCode: "abandoned" });
      await turns.settle(left);
      const verified = await converse({ visitorId: ada });
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: ada };
      const asking = world.turnOf(companion, { key });
      await turns.settle(asking);
      const question = { messageId: asking.messages[0]?.id ?? "", groupId: systemIds.randomUuid() };
      await unanswered.note({ key, unanswered: question, seen: null });
      const [failed, abandoned, open] = [failing, left, asking].map((turn) => turn.conversationId) as [
        string,
        string,
        string,
      ];

      expect(await list({ unanswered: true })).toEqual([open]);
      expect(await list({ failed: true })).toEqual([failed]);
      expect(await list({ failed: false, verified: false })).toEqual([abandoned, plain]);
      expect(await list({ verified: true, unanswered: false, channel: "text" })).toEqual([verified]);
      expect(await list({ verified: true, updatedSinceMs: 0 })).toHaveLength(2);
      expect(await list({ channel: "voice" })).toEqual([]);
      expect(await list({ verified: true, q: "my order" })).toEqual([]);
      expect(await list({ verified: false, q: "is my order" })).toEqual([plain]);
      expect(await list({ verified: false, status: "open" })).toEqual([]);
      const query = { ...anything, verified: false };
      const one = await conversations.list(account.id, query, { ...firstPage, limit: 1 });
      const rest = await conversations.list(account.id, query, { ...firstPage, afterId: one.nextAfterId });
      expect([...one.items, ...rest.items].map(({ id }) => id)).toEqual([abandoned, failed, plain]);
      expect(rest.nextAfterId).toBeNull();

      const { items } = await conversations.list(account.id, anything, firstPage);
      const excerpts = await conversations.readExcerpts(items, "order");
      expect(excerpts.get(plain)).toMatchObject({
        last: { role: "assistant", text: "İn the bank, order 7" },
        ...{ unanswered: false, failed: false, channels: ["text"] },
        hits: [
          { role: "assistant", before: "İn the bank, ", match: "order", after: " 7" },
          { role: "user", before: "Where is my ", match: "ORDER" },
        ],
      });
      expect(excerpts.get(plain)?.first?.text).toStartWith("Where is my ORDER? x");
      expect(excerpts.get(plain)?.first?.text.length).toBeLessThanOrEqual(200);
      expect(excerpts.get(plain)?.hits?.[1]?.after.length).toBeLessThanOrEqual(200);
      expect(excerpts.get(open)).toMatchObject({ unanswered: true, hits: [] });
      expect(excerpts.get(failed)).toMatchObject({ failed: true });
      expect((await conversations.readExcerpts(items, null)).get(plain)?.hits).toBeNull();
    });

    test("past their companion's time are deleted, up to the limit, the rest kept", async () => {
      const { conversations, turns } = world.store;
      const forgetful = await world.createCompanion(account, { retentionDays: 10 });
      const strict = await world.createCompanion(account, { retentionDays: 1 });
      const kept = await converse();
      await converse({ of: forgetful });
      await converse({ of: forgetful });
      const revived = world.turnOf(forgetful);
      await turns.settle(revived);
      world.clock.advance(9 * dayMs);
      await turns.settle({ ...world.turnOf(forgetful), key: revived.key });
      await converse({ of: strict });
      const young = await converse({ of: forgetful });
      world.clock.advance(1.5 * dayMs);
      expect(await conversations.deleteExpired(world.clock.nowMs(), 2)).toBe(2);
      expect(await conversations.deleteExpired(world.clock.nowMs(), 2)).toBe(1);
      expect(await conversations.deleteExpired(world.clock.nowMs(), 2)).toBe(0);
      expect(await list({})).toEqual([young, revived.conversationId, kept]);
    });
  });
}
