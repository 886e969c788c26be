/** What every storage engine must do with calls of tools. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import type { Tool } from "../../src/domain/tool.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";
import { callInTurn, newCall, newTool } from "../support/stored-tool.ts";

const late = 15 * 60_000;

export function toolCallStoreContract(open: OpenStore): void {
  describe("calls of tools", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion;
    let tool: Tool;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
      tool = newTool(companion.id, world.clock.nowMs());
      await world.store.tools.create(account.id, tool, world.context());
    });
    afterEach(() => world.close());

    const calls = () => world.store.toolCalls;
    const turn = (fields: Partial<Parameters<typeof callInTurn>[1]> = {}) =>
      callInTurn(world, { companion, tool, ...fields });
    const newKey = (visitorId: string | null = systemIds.randomUuid()) => {
      return { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
    };
    const last = (page = firstPage) => calls().listOfTool(account.id, companion.id, tool.id, page);
    const lastIds = async () => (await last())?.items.map(({ id }) => id);
    const isKept = async (replyId: string) => (await calls().listOfReplies([replyId])).has(replyId);
    /** What the job does once an hour, when all of it is old enough. */
    const settle = () => {
      world.clock.advance(late + 1);
      return calls().deleteOrphans(world.clock.nowMs() - late, 200);
    };

    test("are kept as they were begun, in their order, and as they ended", async () => {
      const { turn: settled, reply } = await turn();
      const replyId = systemIds.uuid();
      const [one, two] = [newCall(tool, 5, { tool: "ex_a" }), newCall(tool, 5, { arguments: '{"z":1,"a":"ż"}' })];
      const three = newCall(tool, 6);
      await calls().begin({ ...reply, replyId }, [one, two]);
      await calls().begin({ ...reply, replyId }, [three]);
      await calls().finish(two.id, { state: "done", result: "Sent “today”.", durationMs: 41 });
      await calls().finish(one.id, { state: "failed", result: "It did not answer.", durationMs: null });
      const ended = [
        { ...one, state: "failed", result: "It did not answer." },
        { ...two, state: "done", result: "Sent “today”.", durationMs: 41 },
        three,
      ];
      const found = await calls().listOfReplies([replyId, systemIds.uuid(), settled.messages[1]?.id ?? ""]);
      expect(found.get(replyId)).toEqual(ended as never);
      expect(found.size).toBe(2);
      expect(await calls().listOfReplies([])).toEqual(new Map());
    });

    test("end once", async () => {
      const { call, reply } = await turn();
      await calls().finish(call.id, { state: "done", result: "First", durationMs: 1 });
      await calls().finish(call.id, { state: "failed", result: "Second", durationMs: 2 });
      await calls().finish(systemIds.uuid(), { state: "done", result: "Nobody's", durationMs: 1 });
      const [kept] = (await calls().listOfReplies([reply.replyId])).get(reply.replyId) ?? [];
      expect(kept).toEqual({ ...call, state: "done", result: "First", durationMs: 1 });
    });

    test("hold what a tool may answer, and what no database stores as it is", async () => {
      const result = `a\0b${"ż".repeat(8 * 1024)}`;
      const { call, reply } = await turn({ call: { arguments: '{"a":"\0"}' } });
      await calls().finish(call.id, { state: "done", result, durationMs: 1 });
      const [kept] = (await calls().listOfReplies([reply.replyId])).get(reply.replyId) ?? [];
      expect(kept?.result).toBe(result.replace("\0", "\uFFFD"));
      expect(kept?.arguments).toBe('{"a":"\uFFFD"}');
    });

    test("are found by the message that they belong to, stored or not, in that conversation alone", async () => {
      const key = newKey();
      const running = await turn({ key, isStored: false });
      const stored = await turn({ key });
      const of = (message: typeof running, in_ = key) =>
        calls()
          .listOfMessage(in_, message.reply.messageId ?? "")
          .then((found) => found.map(({ id }) => id));
      for (const when of ["before", "after"]) {
        expect([when, await of(stored)]).toEqual([when, [stored.call.id]]);
        expect(await of(stored, { ...key, visitorId: null })).toEqual([]);
        expect(await of(stored, { ...key, sessionId: systemIds.randomUuid() })).toEqual([]);
        if (when === "before") expect(await of(running)).toEqual([running.call.id]);
        await settle();
      }
      expect(await of(running)).toEqual([]);
      const [found] = await calls().listOfMessage(key, stored.reply.messageId ?? "");
      expect(found).toEqual({ ...stored.call, replyId: stored.reply.replyId });
    });

    test("are listed with their tool, the newest first, in pages, to its account alone", async () => {
      const first = await turn();
      const second = await turn({ isStored: false });
      const third = await turn();
      expect((await last())?.items).toEqual([
        { ...third.call, conversationId: third.turn.conversationId },
        { ...second.call, conversationId: null },
        { ...first.call, conversationId: first.turn.conversationId },
      ]);
      const page = await last({ limit: 2, afterId: null });
      expect(page?.items.map(({ id }) => id)).toEqual([third.call.id, second.call.id]);
      expect((await last({ limit: 2, afterId: page?.nextAfterId ?? null } as never))?.items).toHaveLength(1);
      const stranger = await world.createAccount();
      const neighbour = await world.createCompanion(account);
      expect(await calls().listOfTool(stranger.id, companion.id, tool.id, firstPage)).toBeNull();
      expect(await calls().listOfTool(account.id, neighbour.id, tool.id, firstPage)).toBeNull();
      await settle();
      expect((await last())?.items).toMatchObject([
        { id: third.call.id, conversationId: third.turn.conversationId },
        { id: first.call.id, conversationId: first.turn.conversationId },
      ]);
    });

    test("wait for one decision of their own visitor, as long as it is not too old", async () => {
      const key = newKey();
      const { call, reply } = await turn({ key, call: { state: "waiting" } });
      const yes = { isApproved: true, sinceMs: call.createdAt };
      const strangers = [newKey(), { ...key, visitorId: null }, { ...key, sessionId: systemIds.randomUuid() }];
      for (const other of strangers) expect(await calls().decide(call.id, other, yes)).toEqual({ outcome: "missing" });
      expect(await calls().decide(systemIds.uuid(), key, yes)).toEqual({ outcome: "missing" });
      expect(await calls().decide(call.id, key, { ...yes, sinceMs: call.createdAt + 1 })).toEqual({ outcome: "over" });
      const decisions = await Promise.all([1, 2, 3].map(() => calls().decide(call.id, key, yes)));
      const taken = decisions.filter(({ outcome }) => outcome === "taken");
      expect(taken).toEqual([{ outcome: "taken", call: { ...call, state: "running", reply } }]);
      const running = decisions.filter(({ outcome }) => outcome === "running");
      expect(running).toEqual(Array(2).fill({ outcome: "running", call: { ...call, state: "running", reply } }));
      expect(await calls().decide(call.id, key, { ...yes, sinceMs: call.createdAt + 1 })).toEqual({ outcome: "over" });
      await calls().finish(call.id, { state: "done", result: "Done", durationMs: 3 });
      expect(await calls().decide(call.id, key, yes)).toEqual({ outcome: "over" });
    });

    test("are declined as well, and those that never waited cannot be decided on", async () => {
      const key = newKey(null);
      const asked = await turn({ key, call: { state: "waiting" } });
      const running = await turn({ key });
      const no = { isApproved: false, sinceMs: 0 };
      const declined = await calls().decide(asked.call.id, key, no);
      expect(declined).toMatchObject({ outcome: "taken", call: { state: "declined", result: null } });
      expect(await calls().decide(running.call.id, key, no)).toEqual({ outcome: "missing" });
      await calls().finish(asked.call.id, { state: "declined", result: "The visitor declined.", durationMs: null });
      const kept = await calls().listOfReplies([asked.reply.replyId]);
      expect(kept.get(asked.reply.replyId)).toMatchObject([{ state: "declined", result: "The visitor declined." }]);
    });

    test("go with a conversation that a verified visitor takes over", async () => {
      const visitor = { id: toVerifiedId(systemIds.secret(8)), sealed: "v1.sealed" };
      const key = newKey(null);
      const old = await turn({ key, call: { state: "waiting" } });
      await settle();
      const fresh = await turn({ key, call: { state: "waiting" } });
      expect(await world.store.conversations.merge(key, visitor)).toBe(true);
      const own = { ...key, visitorId: visitor.id };
      const yes = { isApproved: true, sinceMs: 0 };
      for (const { call, reply } of [old, fresh]) {
        expect(await calls().decide(call.id, key, yes)).toEqual({ outcome: "missing" });
        expect(await calls().listOfMessage(key, reply.messageId ?? "")).toEqual([]);
        expect(await calls().listOfMessage(own, reply.messageId ?? "")).toHaveLength(1);
        expect(await calls().decide(call.id, own, yes)).toMatchObject({ outcome: "taken" });
      }
      expect((await last())?.items.map(({ conversationId }) => conversationId)).toEqual(
        [fresh, fresh].map(() => old.turn.conversationId),
      );
      await world.store.conversations.eraseVisitors(account.id, companion.id, [visitor.id], world.context());
      expect(await lastIds()).toEqual([]);
    });

    describe.each(["just now", "long ago"])("begun %s", (when) => {
      const begun = async (fields: Parameters<typeof turn>[0] = {}) => {
        const made = await turn(fields);
        if (when === "long ago") await settle();
        return made;
      };

      test("are gone with their conversation, from the moment of its deletion on", async () => {
        const key = newKey();
        const gone = await begun({ key, call: { state: "waiting" } });
        const other = await begun();
        const { conversationId } = gone.turn;
        expect(await world.store.conversations.delete(account.id, conversationId, world.context())).toBe(true);
        expect(await lastIds()).toEqual([other.call.id]);
        expect(await calls().decide(gone.call.id, key, { isApproved: true, sinceMs: 0 })).toEqual({
          outcome: "missing",
        });
        // The same session begins anew.
        const next = await turn({ key });
        expect(await lastIds()).toEqual([next.call.id, other.call.id]);
        await eventually(async () => !(await isKept(gone.reply.replyId)));
        expect(await isKept(other.reply.replyId)).toBe(true);
      });

      test("are erased with their visitor, also of a turn that still runs, and nobody else's are", async () => {
        const visitorId = systemIds.randomUuid();
        const gone = [await begun({ key: newKey(visitorId) }), await begun({ key: newKey(visitorId) })];
        const running = await turn({ key: newKey(visitorId), isStored: false });
        const other = await begun();
        await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
        for (const { reply } of [...gone, running]) expect(await isKept(reply.replyId)).toBe(false);
        expect(await isKept(other.reply.replyId)).toBe(true);
        await calls().finish(running.call.id, { state: "done", result: "Too late", durationMs: 1 });
        expect(await lastIds()).toEqual([other.call.id]);
      });

      test("are gone with their companion, and with their account", async () => {
        const { reply } = await begun();
        expect(await isKept(reply.replyId)).toBe(true);
        const running = await turn({ isStored: false });
        await world.store.companions.delete(account.id, companion.id, world.context());
        await eventually(async () => !(await isKept(reply.replyId)) && !(await isKept(running.reply.replyId)));
        companion = await world.createCompanion(account);
        tool = newTool(companion.id, world.clock.nowMs());
        await world.store.tools.create(account.id, tool, world.context());
        const next = await begun();
        await world.store.accounts.delete(account.id, world.context());
        await eventually(async () => !(await isKept(next.reply.replyId)));
      });

      test("are gone with what retention deletes", async () => {
        const kept = await world.createCompanion(account);
        await world.store.companions.update(account.id, companion.id, { retentionDays: 1 }, world.context());
        const gone = await begun();
        const other = await begun({ companion: kept });
        world.clock.advance(3 * 86_400_000);
        expect(await world.store.conversations.deleteExpired(world.clock.nowMs(), 10)).toBe(1);
        await settle();
        await eventually(async () => !(await isKept(gone.reply.replyId)));
        expect(await isKept(other.reply.replyId)).toBe(true);
      });
    });

    test("of replies that were never stored are deleted once they are old, and no others", async () => {
      const stored = await turn();
      const orphans = [
        await turn({ isStored: false }),
        await turn({ isStored: false }),
        await turn({ isStored: false }),
      ];
      world.clock.advance(late);
      const young = await turn({ isStored: false });
      const beforeMs = world.clock.nowMs() - late;
      expect(await calls().deleteOrphans(beforeMs, 2)).toBe(2);
      expect(await calls().deleteOrphans(beforeMs, 2)).toBe(1);
      expect(await calls().deleteOrphans(beforeMs, 2)).toBe(0);
      for (const { reply } of orphans) expect(await isKept(reply.replyId)).toBe(false);
      for (const { reply } of [stored, young]) expect(await isKept(reply.replyId)).toBe(true);
    });

    test("stay where many are looked at, however old their conversation is", async () => {
      const key = newKey();
      for (let at = 0; at < 5; at++) await world.store.turns.settle(world.turnOf(companion, { key }));
      const { turn: settled, reply } = await turn({ key });
      const many = Array.from({ length: 130 }, () => newCall(tool, world.clock.nowMs()));
      await calls().begin(reply, many);
      for (let at = 0; at < 5; at++) await world.store.turns.settle(world.turnOf(companion, { key }));
      const orphan = await turn({ key, isStored: false });
      expect(await settle()).toBe(1);
      expect(await isKept(orphan.reply.replyId)).toBe(false);
      expect((await calls().listOfReplies([settled.messages[1]?.id ?? ""])).get(reply.replyId)).toHaveLength(131);
      await world.store.conversations.eraseVisitors(account.id, companion.id, [key.visitorId ?? ""], world.context());
      expect(await lastIds()).toEqual([]);
    });

    test("are gone with what is deleted and erased just while it is found out whether their replies are stored", async () => {
      const visitorId = systemIds.randomUuid();
      const deleted = await Promise.all(Array.from({ length: 8 }, () => turn()));
      const erased = await Promise.all(Array.from({ length: 8 }, () => turn({ key: newKey(visitorId) })));
      const kept = await turn();
      const { conversations } = world.store;
      world.clock.advance(late + 1);
      const looks = Array.from({ length: 4 }, () => calls().deleteOrphans(world.clock.nowMs() - late, 5));
      await Promise.all([
        ...looks,
        ...deleted.map(({ turn: { conversationId } }) =>
          conversations.delete(account.id, conversationId, world.context()),
        ),
        conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context()),
        calls().deleteOrphans(world.clock.nowMs() - late, 50),
      ]);
      expect(await lastIds()).toEqual([kept.call.id]);
      for (const { reply } of erased) expect(await isKept(reply.replyId)).toBe(false);
      await eventually(
        async () => !(await Promise.all(deleted.map(({ reply }) => isKept(reply.replyId)))).includes(true),
      );
      await settle();
      expect(await isKept(kept.reply.replyId)).toBe(true);
    });

    test("may be there only where the companion ever had a tool", async () => {
      const plain = await world.createCompanion(account);
      const without = world.turnOf(plain);
      await world.store.turns.settle(without);
      const { turn: settled } = await turn();
      const find = (id: string) => world.store.conversations.find(account.id, id);
      expect(await find(without.conversationId)).toMatchObject({ mayHaveCalls: false });
      expect(await find(settled.conversationId)).toMatchObject({ mayHaveCalls: true });
      await world.store.tools.delete(account.id, companion.id, tool.id, world.context());
      expect(await find(settled.conversationId)).toMatchObject({ mayHaveCalls: true });
    });
  });
}
