/** What every storage engine must do with what turns found in knowledge, and with questions that had no answer there. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxUploadBytes } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { indexSource, newSource, newUpload, readUpload } from "../support/indexed-source.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function unansweredStoreContract(open: OpenStore): void {
  describe("unanswered questions", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    const list = () => world.store.unanswered.list(account.id, companion.id, firstPage);
    const find = (id: string) => world.store.unanswered.find(account.id, companion.id, id);

    /** A settled turn, whose question is noted in the group. */
    async function ask(groupId: string, said: string, fields: { visitorId?: string; to?: Companion } = {}) {
      const { visitorId = systemIds.randomUuid(), to = companion } = fields;
      const key = { companionId: to.id, sessionId: systemIds.randomUuid(), visitorId };
      const turn = world.turnOf(to, { key, said });
      await world.store.turns.settle(turn);
      const messageId = turn.messages[0]?.id ?? "";
      const unanswered = { messageId, groupId };
      await world.store.unanswered.note({ key, unanswered, seen: null });
      return turn;
    }

    test("are grouped by their name, counted, and told as they were asked last, the last asked first", async () => {
      const opening = systemIds.randomUuid();
      const returns = systemIds.randomUuid();
      const first = await ask(opening, "When do you open?");
      await ask(returns, "Can I return it?");
      const last = await ask(opening, "when do you OPEN");
      const asked = {
        ...{ id: opening, companionId: companion.id, question: "when do you OPEN", count: 2 },
        firstAskedAt: first.messages[0]?.createdAt,
        lastAskedAt: last.messages[0]?.createdAt,
      };
      expect((await list())?.items).toMatchObject([asked, { id: returns, question: "Can I return it?", count: 1 }]);
      expect(await find(opening)).toEqual(asked as never);
      expect(await find(systemIds.randomUuid())).toBeNull();
    });

    test("count a message once that runs again after its visitor left", async () => {
      const group = systemIds.randomUuid();
      const { key, messages } = await ask(group, "When do you open?");
      const unanswered = { messageId: messages[0]?.id ?? "", groupId: group };
      await world.store.unanswered.note({ key, unanswered, seen: null });
      expect((await list())?.items).toMatchObject([{ id: group, count: 1 }]);
    });

    test("are listed in pages, also where one leaves or is asked again in between", async () => {
      const groups = [1, 2, 3, 4, 5].map(() => systemIds.randomUuid());
      for (const group of groups) await ask(group, `question ${group}`);
      const { unanswered } = world.store;
      const first = await unanswered.list(account.id, companion.id, { limit: 2, afterId: null });
      expect(first?.items.map(({ id }) => id)).toEqual([groups[4], groups[3]] as string[]);
      await unanswered.dismiss(account.id, companion.id, groups[3] ?? "", world.context());
      await ask(groups[1] ?? "", "again");
      const place = { afterId: first?.nextAfterId ?? null, afterUpdatedAt: first?.nextUpdatedAt ?? null };
      const second = await unanswered.list(account.id, companion.id, { limit: 2, ...place });
      expect(second).toMatchObject({ items: [{ id: groups[2] }, { id: groups[0] }], nextAfterId: null });
      const oldest = await unanswered.list(account.id, companion.id, { limit: 2, afterId: null, order: "asc" });
      expect(oldest?.items.map(({ id }) => id)).toEqual([groups[0], groups[2]] as string[]);
      const on = { afterId: oldest?.nextAfterId ?? null, afterUpdatedAt: oldest?.nextUpdatedAt ?? null };
      const rest = await unanswered.list(account.id, companion.id, { limit: 9, order: "asc", ...on });
      expect(rest).toMatchObject({ items: [{ id: groups[4] }, { id: groups[1] }], nextAfterId: null });
    });

    test("are listed for the whole account too, in pages that no companion's questions leave", async () => {
      const second = await world.createCompanion(account);
      const stranger = await world.createCompanion(await world.createAccount());
      const groups = [1, 2, 3, 4].map(() => systemIds.randomUuid());
      for (const [at, group] of groups.entries())
        await ask(group, `question ${at}`, at % 2 === 0 ? {} : { to: second });
      await ask(systemIds.randomUuid(), "of another", { to: stranger });
      const { unanswered } = world.store;
      const first = await unanswered.listOfAccount(account.id, { limit: 3, afterId: null });
      expect(first.items).toMatchObject([
        { id: groups[3], companionId: second.id, question: "question 3", count: 1 },
        { id: groups[2], companionId: companion.id },
        { id: groups[1], companionId: second.id },
      ]);
      const place = { afterId: first.nextAfterId, afterUpdatedAt: first.nextUpdatedAt ?? null };
      const rest = await unanswered.listOfAccount(account.id, { limit: 3, ...place });
      expect(rest).toMatchObject({ items: [{ id: groups[0] }], nextAfterId: null });
      const oldest = await unanswered.listOfAccount(account.id, { limit: 2, afterId: null, order: "asc" });
      expect(oldest.items.map(({ id }) => id)).toEqual([groups[0], groups[1]] as string[]);
    });

    test("are out of reach for other accounts and companions", async () => {
      const { unanswered } = world.store;
      const stranger = await world.createAccount();
      const neighbour = await world.createCompanion(account);
      const group = systemIds.randomUuid();
      await ask(group, "Mine?");
      expect(await unanswered.list(stranger.id, companion.id, firstPage)).toBeNull();
      expect((await unanswered.list(account.id, neighbour.id, firstPage))?.items).toEqual([]);
      for (const [owner, place] of [
        [stranger.id, companion.id],
        [account.id, neighbour.id],
      ] as const) {
        expect(await unanswered.find(owner, place, group)).toBeNull();
        expect(await unanswered.dismiss(owner, place, group, world.context())).toBe(false);
        expect(await unanswered.answer(owner, place, group, newSource(), world.context())).toBeNull();
      }
      expect((await list())?.items).toHaveLength(1);
    });

    test("are dismissed, and begin anew when they are asked again", async () => {
      const { audit, unanswered } = world.store;
      const group = systemIds.randomUuid();
      await ask(group, "secret words");
      await ask(group, "secret words");
      expect(await unanswered.dismiss(account.id, companion.id, group, world.context())).toBe(true);
      expect(await unanswered.dismiss(account.id, companion.id, group, world.context())).toBe(false);
      expect((await list())?.items).toEqual([]);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({ action: "unanswered.dismiss", targetId: group });
      expect(JSON.stringify(trail)).not.toContain("secret");
      await ask(group, "secret words");
      expect((await list())?.items).toMatchObject([{ id: group, count: 1 }]);
    });

    test("become a source that is queued, in one commit with their end and the answer to the request", async () => {
      const { companions, idempotency, knowledge, unanswered } = world.store;
      const group = systemIds.randomUuid();
      await ask(group, "When do you open?");
      const slot = { accountId: account.id, method: "POST", path: "/answer", key: "k" };
      const context = world.context({ idempotent: { slot, bodyHash: "h", status: 202, body: "{}" } });
      const source = newSource({ title: "When do you open?" });
      const made = await unanswered.answer(account.id, companion.id, group, source, context);
      expect(made).toMatchObject({ id: source.id, title: "When do you open?", status: "queued" });
      expect(await knowledge.find(account.id, companion.id, source.id)).toEqual(made);
      expect(await companions.find(account.id, companion.id)).toMatchObject({ hasSources: true });
      expect(await idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 202 });
      expect((await list())?.items).toEqual([]);
      const again = unanswered.answer(account.id, companion.id, group, newSource(), world.context());
      expect(await again).toBeNull();
    });

    test("go into the one source for answers, also where two come at once, within the size of a source", async () => {
      const { audit, knowledge, unanswered } = world.store;
      const groups = [1, 2, 3, 4].map(() => systemIds.randomUuid());
      for (const group of groups) await ask(group, `question ${group}`);
      const answer = (group = "", bytes = Buffer.from(`${group}\n`)) => {
        const source = newSource({ id: companion.id, title: "Answers", upload: { ...newUpload(""), bytes } });
        return unanswered.answer(account.id, companion.id, group, source, world.context());
      };
      const text = async () => {
        const kept = await knowledge.findText(account.id, companion.id, companion.id);
        return [kept?.bytes, await readUpload(world, kept?.uploadId ?? "")];
      };
      const [first, second] = await Promise.all([answer(groups[0]), answer(groups[1])]);
      expect(first).toMatchObject({ id: companion.id, title: "Answers", status: "queued" });
      expect(second).toMatchObject({ id: companion.id });
      const claim = { nowMs: world.clock.nowMs() + 1, leaseMs: 60_000, afterAccountId: null, exceptAccountIds: [] };
      const claimed = await knowledge.claim(claim);
      // More than a piece, which is then added to the last one.
      const long = Buffer.alloc(1_100_000, "ä");
      await answer(groups[2], long);
      expect(await knowledge.release(claimed ?? expect.unreachable(), world.clock.nowMs())).toBe(false);
      const written = [...[groups[0], groups[1]].map((group) => `${group}\n`), long.toString()];
      const [bytes, kept] = await text();
      expect(bytes).toBe(Buffer.byteLength(written.join("")));
      const other = [written[1], written[0], written[2]];
      expect([written.join(""), other.join("")]).toContain(kept as string);
      expect((await knowledge.list(account.id, companion.id, firstPage))?.items).toHaveLength(1);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      const actions = trail.items.map(({ action }) => action).filter((action) => action.startsWith("source."));
      expect(actions).toEqual(["source.update", "source.update", "source.create"]);

      const tooLong = answer(groups[3], Buffer.alloc(maxUploadBytes - long.length));
      await expect(tooLong).rejects.toMatchObject({ code: "conflict" });
      expect((await list())?.items).toMatchObject([{ id: groups[3] }]);
      expect(await text()).toEqual([bytes, kept]);
    });

    test("go with their conversation, with their visitor, and when its retention is over", async () => {
      const { conversations, companions } = world.store;
      const [deleted, erased, expired, kept] = [1, 2, 3, 4].map(() => systemIds.randomUuid()) as [
        ...[string, string, string, string],
      ];
      const own = await world.createCompanion(account, { retentionDays: 1 });
      const turn = await ask(deleted, "deleted");
      const visitorId = systemIds.randomUuid();
      await ask(erased, "erased", { visitorId });
      await ask(kept, "kept by another");
      await ask(kept, "erased too", { visitorId });
      await ask(expired, "expired", { to: own });
      await conversations.delete(account.id, turn.conversationId, world.context());
      expect(await find(deleted)).toBeNull();
      await conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
      expect(await find(erased)).toBeNull();
      expect((await list())?.items).toMatchObject([{ id: kept, count: 1, question: "kept by another" }]);
      expect(await world.store.unanswered.find(account.id, own.id, expired)).not.toBeNull();
      await conversations.deleteExpired(world.clock.nowMs() + 3 * 86_400_000, 100);
      expect(await world.store.unanswered.find(account.id, own.id, expired)).toBeNull();
      await companions.delete(account.id, companion.id, world.context());
      expect(await list()).toBeNull();
    });

    test("of messages that are gone are not noted", async () => {
      const turn = world.turnOf(companion);
      const unanswered = { messageId: turn.messages[0]?.id ?? "", groupId: systemIds.randomUuid() };
      const seen = { messageId: turn.messages[1]?.id ?? "", passages: [] };
      await world.store.unanswered.note({ key: turn.key, unanswered, seen });
      await world.store.turns.settle(turn);
      const other = { messageId: systemIds.uuid(), groupId: systemIds.randomUuid() };
      await world.store.unanswered.note({ key: turn.key, unanswered: other, seen: null });
      expect((await list())?.items).toEqual([]);
      expect((await world.store.unanswered.listSeen(turn.conversationId, [seen.messageId])).size).toBe(0);
    });

    test("what a model saw is told with where it comes from, until that was deleted or read anew", async () => {
      const { knowledge, turns, unanswered } = world.store;
      const { source, edition } = await indexSource(world, companion, ["first", "second"], {
        url: "https://shop.example",
      });
      const turn = world.turnOf(companion);
      await turns.settle(turn);
      const [asked = "", replied = ""] = turn.messages.map(({ id }) => id);
      const passages = [
        { n: 1, edition, ordinal: 1, isCited: true },
        { n: 2, edition, ordinal: 0, isCited: false },
      ];
      await unanswered.note({ key: turn.key, unanswered: null, seen: { messageId: replied, passages } });
      const where = { id: source.id, title: "Terms", url: "https://shop.example", page: null };
      const shown = await unanswered.listSeen(turn.conversationId, [asked, replied]);
      expect([...shown]).toEqual([
        [
          replied,
          [
            { n: 1, edition, ordinal: 1, isCited: true, source: { ...where, text: "second" } },
            { n: 2, edition, ordinal: 0, isCited: false, source: { ...where, text: "first" } },
          ],
        ],
      ]);
      expect((await list())?.items).toEqual([]);
      await knowledge.delete(account.id, companion.id, source.id, world.context());
      const later = await unanswered.listSeen(turn.conversationId, [replied]);
      expect(later.get(replied)).toMatchObject([
        { n: 1, source: null },
        { n: 2, source: null },
      ]);
    });
  });
}
