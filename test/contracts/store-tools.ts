/** What every storage engine must do with the tools of companions. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ToolChange, ToolRevision } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxTools, type Tool } from "../../src/domain/tool.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";
import { callInTurn, newTool } from "../support/stored-tool.ts";

export function toolStoreContract(open: OpenStore): void {
  describe("tools", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion & { embedToken: string };
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    async function create(fields: Partial<Tool> = {}, of = companion): Promise<Tool> {
      world.clock.advance(1000);
      const tool = newTool(of.id, world.clock.nowMs(), fields);
      await world.store.tools.create(of.accountId, tool, world.context());
      return tool;
    }
    const list = async () => (await world.store.tools.list(account.id, companion.id, firstPage))?.items;
    const find = (id: string) => world.store.tools.find(account.id, companion.id, id);
    const update = (id: string, change: ToolChange | ToolRevision) => {
      const revise = typeof change === "function" ? change : () => change;
      return world.store.tools.update(account.id, companion.id, id, revise, world.context());
    };
    const remove = (id: string) => world.store.tools.delete(account.id, companion.id, id, world.context());
    const countOf = async () => [
      (await world.store.companions.find(account.id, companion.id))?.toolCount,
      (await world.store.companions.findByEmbedToken(companion.embedToken))?.companion.toolCount,
    ];

    test("are found as they were made, of either kind, and listed newest first", async () => {
      const first = await create({
        ...{
          name: "z",
          title: "Żółty “tool” 🧵",
          sealedHeaders: "v1.headers",
          headerNames: ["X-Key", "authorization"],
        },
        ...{ timeoutMs: 20_000, confirm: true, requiresVisitor: true },
      });
      const all = await create({ name: "a", target: { type: "mcp", url: "https://mcp.example/", tools: null } });
      const some = await create({ name: "m", target: { type: "mcp", url: "https://mcp.example/", tools: ["b", "a"] } });
      for (const tool of [first, all, some]) expect(await find(tool.id)).toEqual(tool);
      expect(await list()).toEqual([some, all, first]);
      expect(await world.store.tools.listAll(companion.id)).toEqual([all, some, first]);
    });

    test("keep the order of members in their parameters", async () => {
      const parameters = { type: "object", properties: { z: { type: "string" }, a: { const: 1.5 } }, required: ["z"] };
      const { id } = await create({ target: { type: "http", url: "https://a.example/", description: "", parameters } });
      const found = await find(id);
      expect(found?.target.type === "http" && JSON.stringify(found.target.parameters)).toBe(JSON.stringify(parameters));
    });

    test("are listed in pages, in either order", async () => {
      const made = [await create(), await create(), await create()].map(({ id }) => id);
      const page = async (afterId: string | null, order?: "asc") => {
        const request = { limit: 2, afterId, ...(order && { order }) };
        const found = await world.store.tools.list(account.id, companion.id, request);
        return [found?.items.map(({ id }) => id), found?.nextAfterId];
      };
      expect(await page(null, "asc")).toEqual([made.slice(0, 2), made[1] ?? null]);
      expect(await page(made[1] ?? "", "asc")).toEqual([made.slice(2), null]);
      expect(await page(null)).toEqual([[made[2] ?? "", made[1] ?? ""], made[1] ?? null]);
      expect(await page(made[1] ?? "")).toEqual([made.slice(0, 1), null]);
    });

    test("are counted with their companion from the commit on that makes or deletes them", async () => {
      expect(await countOf()).toEqual([0, 0]);
      const { id } = await create();
      await create();
      expect(await countOf()).toEqual([2, 2]);
      const before = await world.store.companions.find(account.id, companion.id);
      await remove(id);
      expect(await countOf()).toEqual([1, 1]);
      // Nothing that the owner sees of the companion has changed.
      expect(await world.store.companions.find(account.id, companion.id)).toEqual({
        ...before,
        ...{ toolCount: 1, version: 4 },
      } as never);
    });

    test("have names of their own in a companion, however many ask at once", async () => {
      await create({ name: "lookup" });
      await expect(create({ name: "lookup" })).rejects.toMatchObject({ code: "conflict" });
      const neighbour = await world.createCompanion(account);
      await create({ name: "lookup" }, neighbour);
      const tries = await Promise.allSettled(Array.from({ length: 4 }, () => create({ name: "same" })));
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const other = await create({ name: "other" });
      await expect(update(other.id, { name: "lookup" })).rejects.toMatchObject({ code: "conflict" });
      expect(await update(other.id, { name: "other", title: "Same name" })).toMatchObject({ title: "Same name" });
      expect(await countOf()).toEqual([3, 3]);
    });

    test("are at most thirty-two, however many come at once", async () => {
      const tries = await Promise.allSettled(Array.from({ length: maxTools + 3 }, () => create()));
      const refused = tries.filter((outcome) => outcome.status === "rejected");
      expect(refused.map(({ reason }) => reason.code)).toEqual(["conflict", "conflict", "conflict"]);
      expect(await countOf()).toEqual([maxTools, maxTools]);
    });

    test("change as they are told, and not where the check throws", async () => {
      const tool = await create({ sealedHeaders: "v1.a", headerNames: ["a"] });
      const target = { ...tool.target, url: "https://new.example/" };
      const change = { title: "New", target, timeoutMs: 500, confirm: true, sealedHeaders: null, headerNames: [] };
      world.clock.advance(1000);
      const changed = await update(tool.id, (current) => {
        expect(current).toEqual(tool);
        return change;
      });
      expect(changed).toEqual({ ...tool, ...change, updatedAt: world.clock.nowMs() } as Tool);
      expect(await find(tool.id)).toEqual(changed);
      const refusing = () => {
        throw new Error("no");
      };
      await expect(update(tool.id, refusing)).rejects.toThrow();
      expect(await update(tool.id, {})).toEqual(changed);
      expect(await find(tool.id)).toEqual(changed);
      const deleting = world.store.tools.delete(account.id, companion.id, tool.id, world.context(), refusing);
      await expect(deleting).rejects.toThrow();
      expect(await countOf()).toEqual([1, 1]);
    });

    test("say by another time that they have changed, also within a millisecond", async () => {
      const { id, updatedAt } = await create();
      const first = await update(id, { title: "One" });
      const second = await update(id, { title: "Two" });
      expect(first?.updatedAt).toBeGreaterThan(updatedAt);
      expect(second?.updatedAt).toBeGreaterThan(first?.updatedAt ?? 0);
    });

    test("are out of reach for other accounts and companions", async () => {
      const stranger = await world.createAccount();
      const neighbour = await world.createCompanion(account);
      const { id } = await create();
      const { tools } = world.store;
      const foreign = newTool(companion.id, world.clock.nowMs());
      await expect(tools.create(stranger.id, foreign, world.context())).rejects.toMatchObject({ code: "not_found" });
      expect(await tools.list(stranger.id, companion.id, firstPage)).toBeNull();
      for (const [owner, of] of [
        [stranger.id, companion.id],
        [account.id, neighbour.id],
        [account.id, systemIds.uuid()],
      ] as const) {
        expect(await tools.find(owner, of, id)).toBeNull();
        expect(await tools.update(owner, of, id, () => ({ title: "Stolen" }), world.context())).toBeNull();
        expect(await tools.delete(owner, of, id, world.context())).toBe(false);
      }
      expect(await find(id)).not.toBeNull();
    });

    test("count in what the account holds, and go within its limit", async () => {
      const full = { companions: 9, keys: 9, tokensPerCompanion: 9, members: 10, bytes: 0 };
      // A full account keeps no old versions.
      const held = async () => {
        const context = world.context({ holdings: { free: full, paid: full } });
        const temperature = (await world.store.companions.find(account.id, companion.id))?.version ?? 0;
        await world.store.companions.update(account.id, companion.id, { temperature }, context);
        return (await world.store.accounts.findHeld(account.id))?.bytes ?? 0;
      };
      const before = await held();
      const tool = await create({ title: "Żółty", sealedHeaders: "v1.headers", headerNames: ["x"] });
      const { target } = tool;
      const written = [tool.name, "Żółty", "http", target.url, "v1.headers", '["x"]', "v1.sealed"];
      const described = target.type === "http" ? [target.description, JSON.stringify(target.parameters)] : [];
      const bytes = Buffer.byteLength([...written, ...described].join(""));
      expect(await held()).toBe(before + bytes);
      await update(tool.id, { title: "Ż" });
      expect(await held()).toBe(before + bytes - "ółty".length - 2);
      const limits = { companions: 9, keys: 9, tokensPerCompanion: 9, members: 10, bytes: before + bytes };
      const context = () => world.context({ holdings: { free: limits, paid: limits } });
      const large = newTool(companion.id, world.clock.nowMs(), { title: "x".repeat(100) });
      const refused = { code: "limit_reached" };
      await expect(world.store.tools.create(account.id, large, context())).rejects.toMatchObject(refused);
      const grown = () => ({ title: "x".repeat(200) });
      const grow = world.store.tools.update(account.id, companion.id, tool.id, grown, context());
      await expect(grow).rejects.toMatchObject(refused);
      expect(await countOf()).toEqual([1, 1]);
      await remove(tool.id);
      expect(await held()).toBe(before);
      await create();
      await world.store.companions.delete(account.id, companion.id, world.context());
      expect(await held()).toBe(0);
    });

    test("end with their companion, and with their account", async () => {
      const { tools } = world.store;
      await create();
      await world.store.companions.delete(account.id, companion.id, world.context());
      expect(await tools.listAll(companion.id)).toEqual([]);
      const neighbour = await world.createCompanion(account);
      await create({}, neighbour);
      await world.store.accounts.delete(account.id, world.context());
      await eventually(async () => (await tools.listAll(neighbour.id)).length === 0);
      expect(await tools.listHolders(9)).toEqual([]);
    });

    test("leave their calls in transcripts, and none that waits for a visitor", async () => {
      const tool = await create();
      const { reply, call } = await callInTurn(world, { companion, tool, call: { state: "waiting" } });
      const ended = await callInTurn(world, { companion, tool });
      await remove(tool.id);
      const kept = await world.store.toolCalls.listOfReplies([reply.replyId, ended.reply.replyId]);
      expect(kept.get(reply.replyId)).toEqual([{ ...call, state: "declined" }]);
      expect(kept.get(ended.reply.replyId)).toEqual([ended.call]);
      const decision = { isApproved: true, sinceMs: 0 };
      expect(await world.store.toolCalls.decide(call.id, reply.key, decision)).toEqual({ outcome: "missing" });
      expect(await world.store.toolCalls.listOfTool(account.id, companion.id, tool.id, firstPage)).toBeNull();
    });

    test("are given up all at once for a lost key, and name their accounts before", async () => {
      const stranger = await world.createAccount();
      const theirs = await world.createCompanion(stranger);
      await create();
      await create();
      await create({}, theirs);
      // Nothing is lost with a key that sealed nothing.
      const unsealed = await world.createCompanion(await world.createAccount());
      await create({ sealedSecret: "" }, unsealed);
      const { tools } = world.store;
      expect((await tools.listHolders(9)).sort()).toEqual([account.email, stranger.email].sort());
      expect(await tools.listHolders(1)).toHaveLength(1);
      expect(await tools.reset(account.id, world.context())).toBe(true);
      expect(await tools.reset(systemIds.uuid(), world.context())).toBe(false);
      expect(await list()).toEqual([]);
      expect(await countOf()).toEqual([0, 0]);
      expect(await tools.listHolders(9)).toEqual([stranger.email]);
      expect(await tools.listAll(theirs.id)).toHaveLength(1);
    });

    test("are in the audit log, without what is sealed", async () => {
      const { id, name } = await create({ sealedSecret: "v1.hidden" });
      await update(id, { sealedSecret: "v1.other", title: "New" });
      await remove(id);
      const log = await world.store.audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      const of = { companionId: companion.id, name };
      expect(log.items.slice(0, 3)).toMatchObject([
        { action: "tool.delete", targetId: id, details: of },
        { action: "tool.update", targetId: id, details: { ...of, changed: ["title", "secret"] } },
        { action: "tool.create", targetId: id, details: of },
      ]);
      expect(JSON.stringify(log)).not.toContain("v1.");
    });
  });
}
