/** What every storage engine must do with sets of companions that files describe. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { SetCreate, SetScope, SetState, SetUpdate, SetWrites } from "../../src/contracts/store/companion-sets.ts";
import type { Account } from "../../src/domain/account.ts";
import type { Companion, CompanionSettings } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { newSource, newUpload, readUpload } from "../support/indexed-source.ts";
import { newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";
import { newTool } from "../support/stored-tool.ts";

export function companionSetContract(open: OpenStore): void {
  describe("sets of companions", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    const roomy = { companions: 1000, keys: 1000, tokensPerCompanion: 1000, members: 10, bytes: 1e9 };
    const applied = (fields = {}, set = "default") => {
      return { set, fields, tools: {}, sources: {}, isPruned: false, appliedAt: world.clock.nowMs() };
    };
    const toCreate = (settings: Partial<CompanionSettings>, of: Partial<SetCreate> = {}): SetCreate => {
      const made = { companion: newCompanion(settings), tools: [], sources: [] };
      return { auditId: systemIds.uuid(), ...made, applied: applied({ name: settings.name ?? "Ada" }), ...of };
    };
    const toUpdate = (id: string, patch: Partial<CompanionSettings>, of: Partial<SetUpdate> = {}): SetUpdate => {
      return { id, auditId: systemIds.uuid(), patch, ...of };
    };
    const scope = (fields: Partial<SetScope> = {}): SetScope => {
      return { set: "default", slugs: [], adoptIds: [], isWholeSet: true, ...fields };
    };
    const apply = (
      writes: Partial<SetWrites<unknown>> | ((state: SetState) => Partial<SetWrites<unknown>>),
      of: Partial<SetScope> = {},
      context = world.context({ change: { via: "apply", note: "CI", actorName: null } }),
    ) =>
      world.store.companionSets.apply(
        account.id,
        scope(of),
        (state) => {
          const some = typeof writes === "function" ? writes(state) : writes;
          return { creates: [], updates: [], deletes: [], idempotent: null, result: "done", ...some };
        },
        context,
      );
    const read = async (of: Partial<SetScope> = {}) =>
      (await world.store.companionSets.read(account.id, scope(of))).companions;
    const trail = async () => {
      const page = await world.store.audit.list(account.id, { fromMs: 0, toMs: 1e15 }, { limit: 99, afterId: null });
      return page.items.map(({ action, targetId, details }) => ({ action, targetId, details }));
    };
    const heldBytes = async () => (await world.store.accounts.findHeld(account.id))?.bytes;

    test("are made whole, with the note, and found by set, slug or id", async () => {
      const first = newCompanion({ slug: "a", metadata: { plan: "pro" } });
      const tool = newTool(first.id, world.clock.nowMs(), { name: "orders" });
      const source = newSource({ slug: "terms", upload: newUpload("The terms.") });
      const create = toCreate({}, { companion: first, tools: [tool], sources: [source] });
      const slot = { accountId: account.id, method: "POST", path: "/api/apply", key: "k" };
      const idempotent = { slot, bodyHash: "h", status: 200, body: "{}" };
      expect(await apply({ creates: [create, toCreate({ slug: "b" })], idempotent, result: 7 })).toBe(7);
      const members = await read();
      expect(members).toHaveLength(2);
      expect(members[0]).toMatchObject({
        companion: { id: first.id, slug: "a", version: 1, toolCount: 1, hasSources: true },
        tools: [tool],
        sources: [{ id: source.id, slug: "terms", status: "queued", uploadHash: sha256Hex("The terms.") }],
        applied: { ...create.applied, version: 1 },
        changes: [],
      });
      expect(await readUpload(world, source.upload?.id ?? "")).toBe("The terms.");
      expect(await world.store.companions.findBySlug(account.id, "a")).toMatchObject({ id: first.id });
      expect(await world.store.companions.findByEmbedToken(first.embedToken.token)).toMatchObject({
        companion: { slug: "a" },
      });
      const query = { metadata: [{ path: "plan", value: "pro" }], q: null };
      expect((await world.store.companions.list(account.id, query, { limit: 9, afterId: null })).items).toHaveLength(1);
      expect(await world.store.idempotency.find(slot, world.clock.nowMs())).toMatchObject({ status: 200 });
      const actions = (await trail()).map(({ action }) => action);
      expect(actions).toEqual(["companion.create", "companion.create", "account.create"]);
      const page = { limit: 9, afterNumber: null };
      const listed = await world.store.versions.list(account.id, first.id, page);
      expect(listed?.items).toMatchObject([{ number: 1, via: "apply", note: "CI", changed: [] }]);
      const elsewhere = await world.createCompanion(account);
      const ids = async (of: Partial<SetScope>) => (await read(of)).map(({ companion }) => companion.id);
      expect(await ids({ isWholeSet: false, slugs: ["a", "nothing"], adoptIds: [elsewhere.id] })).toEqual([
        first.id,
        elsewhere.id,
      ]);
      expect(await ids({ set: "other" })).toEqual([]);
      const stranger = await world.createAccount();
      const ofStranger = await world.store.companionSets.read(
        stranger.id,
        scope({ slugs: ["a"], adoptIds: [first.id] }),
      );
      expect(ofStranger.companions).toEqual([]);
    });

    test("change in one commit, each with one version, one audit entry and its record, or nothing does", async () => {
      const [one, two, gone] = [
        await world.createCompanion(account),
        await world.createCompanion(account, { slug: "b" }),
        await world.createCompanion(account),
      ];
      const tool = newTool(two.id, world.clock.nowMs(), { name: "old" });
      await world.store.tools.create(account.id, tool, world.context());
      const source = newSource({ slug: "terms" });
      await world.store.knowledge.create(account.id, two.id, source, world.context());
      const before = [await trail(), await heldBytes()];
      const fresh = newTool(two.id, world.clock.nowMs(), { name: "new" });
      const writes = {
        // The slug moves from one to the other.
        updates: [
          toUpdate(one.id, { slug: "b", systemPrompt: "Be kind." }, { applied: applied() }),
          toUpdate(
            two.id,
            { slug: "c" },
            {
              ...{ toolDeletes: [tool.id], toolCreates: [fresh], sourceDeletes: [source.id] },
              ...{ sourceCreates: [newSource({ slug: "terms" })], applied: applied({}, "shop") },
            },
          ),
        ],
        deletes: [{ id: gone.id, auditId: systemIds.uuid() }],
      };
      const ids = { adoptIds: [one.id, two.id, gone.id] };
      const more = (creates: SetCreate[]) => apply({ ...writes, creates }, ids);
      await expect(more([toCreate({ slug: "c" })])).rejects.toMatchObject({ code: "conflict" });
      await expect(more([toCreate({ voiceAgentId: "theirs" })])).rejects.toMatchObject({ code: "invalid_request" });
      const tight = world.context({ holdings: { free: { ...roomy, companions: 2 }, paid: roomy } });
      await expect(apply({ ...writes, creates: [toCreate({})] }, ids, tight)).rejects.toMatchObject({
        code: "limit_reached",
      });
      await expect(
        apply(() => {
          throw new Error("drift");
        }, ids),
      ).rejects.toThrow("drift");
      expect([await trail(), await heldBytes()]).toEqual(before);

      await more([]);
      const [first, second, ...others] = await read({ set: "none", adoptIds: ids.adoptIds });
      expect(others).toEqual([]);
      expect(first).toMatchObject({
        companion: { version: 2, slug: "b", systemPrompt: "Be kind." },
        applied: { set: "default", version: 2 },
      });
      expect(second).toMatchObject({
        companion: { version: 4, slug: "c", toolCount: 1, hasSources: true },
        tools: [fresh],
        applied: { set: "shop", version: 4 },
      });
      expect(second?.sources.map(({ slug }) => slug)).toEqual(["terms"]);
      const [version] =
        (await world.store.versions.list(account.id, two.id, { limit: 1, afterNumber: null }))?.items ?? [];
      expect(version).toMatchObject({ number: 4, via: "apply", note: "CI", changed: ["tools", "sources"] });
      const news = (await trail()).slice(0, 3);
      expect(new Set(news.map(({ action, targetId }) => `${action} ${targetId}`))).toEqual(
        new Set([`companion.update ${one.id}`, `companion.update ${two.id}`, `companion.delete ${gone.id}`]),
      );
      expect((await trail()).length).toBe((before[0] as unknown[]).length + 3);
      expect(await world.store.companions.find(account.id, gone.id)).toBeNull();
    });

    test("know what changed since they were applied, and lose whom another slug takes away", async () => {
      await apply({ creates: [toCreate({ slug: "a" }), toCreate({ slug: "b" })] });
      const [a, b] = (await read()).map(({ companion }) => companion) as [Companion, Companion];
      const update = (id: string, patch: Partial<CompanionSettings>) =>
        world.store.companions.update(account.id, id, patch, world.context());
      await update(a.id, { greeting: "Hi" });
      await update(a.id, { name: "Bo", metadata: { plan: "pro" } });
      await update(b.id, { slug: null });
      const members = await read();
      expect(
        members.map(({ companion, changes }) => [
          companion.id,
          changes.map(({ number, changed }) => [number, ...changed]),
        ]),
      ).toEqual([
        [
          a.id,
          [
            [2, "greeting"],
            [3, "name", "metadata"],
          ],
        ],
      ]);
      expect((await read({ adoptIds: [b.id] }))[1]).toMatchObject({
        applied: null,
        changes: [],
        companion: { version: 1 },
      });
      const held = await heldBytes();
      const entries = (await trail()).length;
      // Nothing to write: nothing is written.
      expect(await apply({})).toBe("done");
      await apply({ updates: [toUpdate(a.id, {}, { applied: { ...applied(), isPruned: true } })] });
      expect((await read())[0]).toMatchObject({
        companion: { version: 3 },
        applied: { isPruned: true, version: 3 },
        changes: [],
      });
      expect((await trail()).length).toBe(entries);
      await apply({ updates: [toUpdate(a.id, {}, { applied: null })] });
      expect(await read()).toEqual([]);
      expect(await heldBytes()).toBeLessThan(held ?? 0);
      const taken = { code: "conflict" };
      await expect(update(b.id, { slug: "a" })).rejects.toMatchObject(taken);
      await expect(
        world.store.companions.create(account.id, newCompanion({ slug: "a" }), world.context()),
      ).rejects.toMatchObject(taken);
      const two = [newCompanion({ slug: "c" }), newCompanion({ slug: "c" }), newCompanion({ slug: "a" })];
      const refusals = await world.store.companions.createFitting(account.id, two, world.context(), () => null);
      expect([...refusals].map(([id, { code }]) => [id, code])).toEqual([
        [two[1]?.id ?? "", "conflict"],
        [two[2]?.id ?? "", "conflict"],
      ]);
      const elsewhere = await world.createAccount();
      expect(await world.createCompanion(elsewhere, { slug: "a" })).toMatchObject({ slug: "a" });
    });

    test("are counted with the record that they have last", async () => {
      await apply({ creates: [toCreate({ slug: "a", name: "Ada" })] });
      const id = (await read())[0]?.companion.id ?? "";
      const short = (await heldBytes()) ?? 0;
      const fields = { name: "Ada", system_prompt: "é".repeat(9000) };
      await apply({ updates: [toUpdate(id, {}, { applied: applied(fields) })] });
      expect((await read())[0]?.applied?.fields).toEqual(fields);
      expect(await heldBytes()).toBe(short + ',"system_prompt":""'.length + 18_000);
    });

    test("of two that are applied at the same time the second sees the first", async () => {
      const make = () =>
        apply(
          ({ companions }) =>
            companions.length > 0 ? { result: "unchanged" } : { creates: [toCreate({ slug: "a" })] },
          { slugs: ["a"] },
        );
      expect((await Promise.all([make(), make()])).sort()).toEqual(["done", "unchanged"]);
    });
  });
}
