/** What every storage engine must do with versions and drafts of companions. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account, Holdings } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { toolSettingsOf } from "../../src/domain/tool.ts";
import { maxVersions } from "../../src/domain/version.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { makeSource, publishNext } from "../support/indexed-source.ts";
import { newApiKey, newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";
import { newTool } from "../support/stored-tool.ts";

const roomy: Holdings = { companions: 1000, keys: 1000, tokensPerCompanion: 1000, members: 10, bytes: 1e9 };

export function versionStoreContract(open: OpenStore): void {
  let world: StoreWorld;
  let account: Account;
  let companion: Companion & { embedToken: string };
  beforeEach(async () => {
    world = await openWorld(open);
    account = await world.createAccount();
    companion = await world.createCompanion(account, { systemPrompt: "You are Ada.", metadata: { plan: "free" } });
  });
  afterEach(() => world.close());

  const change = (patch: Partial<Companion>, fields = {}) => {
    world.clock.advance(1000);
    return world.store.companions.update(account.id, companion.id, patch, world.context(fields));
  };
  const find = (number: number, of = companion) => world.store.versions.find(account.id, of.id, number);
  const list = async (of = companion) =>
    (await world.store.versions.list(account.id, of.id, { limit: 1000, afterNumber: null }))?.items ?? [];
  const numbers = async (of = companion) => (await list(of)).map(({ number }) => number);
  /** A reply that names the version. */
  const talk = async () => {
    const { version = 0 } = (await world.store.companions.find(account.id, companion.id)) ?? {};
    const turn = world.turnOf(companion);
    const messages = turn.messages.map((message) =>
      message.role === "assistant" ? { ...message, companionVersion: version } : message,
    );
    await world.store.turns.settle({ ...turn, messages });
    const page = { limit: 9, before: null };
    const kept = await world.store.conversations.find(account.id, turn.conversationId, page);
    expect(kept?.messages.map(({ companionVersion }) => companionVersion)).toEqual([null, version]);
  };
  const held = async () => (await world.store.accounts.findHeld(account.id))?.bytes ?? 0;
  const within = (bytes: number) => ({ holdings: { free: { ...roomy, bytes }, paid: roomy } });

  describe("versions", () => {
    test("of a companion that never changed are one, made from what it is, and nothing is stored", async () => {
      const before = await held();
      const key = await world.store.apiKeys.create(account.id, newApiKey({ name: "CI" }), world.context());
      const settings = { ...newCompanion({ systemPrompt: "Hi" }), createdByKeyId: key?.id ?? null };
      const made = await world.store.companions.create(account.id, settings, world.context());
      const actor = { type: "key", id: settings.createdByKeyId, name: "CI" };
      const first = { number: 1, createdAt: made.createdAt, via: null, note: null, changed: [] };
      expect(await list(made as never)).toEqual([{ ...first, actor } as never]);
      expect(await find(1, made as never)).toMatchObject({
        ...first,
        settings: { systemPrompt: "Hi" },
        tools: [],
        sources: [],
      });
      expect(await list()).toEqual([{ ...first, createdAt: companion.createdAt, actor: null }]);
      expect(await find(2)).toBeNull();
      expect(await held()).toBe(before + "AdaHi[][]{}".length);
      const stranger = await world.createAccount();
      expect(await world.store.versions.list(stranger.id, companion.id, { limit: 9, afterNumber: null })).toBeNull();
      expect(await world.store.versions.find(stranger.id, companion.id, 1)).toBeNull();
    });

    test("are made by each change of fields, tools and sources, by whom, through what and why", async () => {
      const email = { via: "dashboard", note: "Kinder", actorName: null } as const;
      const actor = { kind: "session", id: "s-1", ipPrefix: null, requestId: null } as const;
      await change(
        { systemPrompt: "You are kind.", enabled: false, metadata: { plan: "pro" } },
        { change: email, actor },
      );
      const tool = newTool(companion.id, world.clock.nowMs(), {
        name: "orders",
        headerNames: ["x"],
        sealedHeaders: "v1.h",
      });
      await world.store.tools.create(account.id, tool, world.context());
      await world.store.tools.update(
        account.id,
        companion.id,
        tool.id,
        () => ({ sealedSecret: "v1.new" }),
        world.context(),
      );
      const source = await makeSource(world, companion, { title: "Terms" });
      await change({ name: "Ada" });
      await change({ slug: "ada" });
      const [sources, tools, fields, first, ...others] = await list();
      expect(others).toEqual([]);
      expect(first).toMatchObject({ number: 1, createdAt: companion.createdAt, actor: null, via: null, changed: [] });
      expect(fields).toMatchObject({ number: 2, via: "dashboard", note: "Kinder" });
      expect(fields?.actor).toEqual({ type: "session", id: "s-1", name: account.email });
      expect([...(fields?.changed ?? [])].sort()).toEqual(["enabled", "metadata", "system_prompt"]);
      expect(tools).toMatchObject({
        number: 3,
        via: "api",
        note: null,
        changed: ["tools"],
        actor: { type: "key", name: null },
      });
      expect(sources).toMatchObject({ number: 4, changed: ["sources"] });
      const now = await world.store.companions.find(account.id, companion.id);
      expect(now).toMatchObject({ version: 4, slug: "ada" });
      const enabled = await change({ enabled: true });
      const target = await world.store.companions.findByEmbedToken(companion.embedToken);
      expect([enabled?.version, target?.companion.version]).toEqual([5, 5]);
      const { slug: _, ...settings } = newCompanion();
      for (const [number, systemPrompt] of [
        [1, "You are Ada."],
        [2, "You are kind."],
        [5, "You are kind."],
      ] as const) {
        expect((await find(number))?.settings.systemPrompt).toBe(systemPrompt);
      }
      const second = await find(2);
      expect(Object.keys(second?.settings ?? {}).sort()).toEqual(
        Object.keys(settings)
          .filter((name) => !["id", "createdByKeyId", "embedToken"].includes(name))
          .sort(),
      );
      expect(second).toMatchObject({ tools: [], sources: [], settings: { enabled: false, metadata: { plan: "pro" } } });
      expect((await find(4))?.tools).toEqual([toolSettingsOf(tool)]);
      expect(JSON.stringify(await find(4))).not.toContain("v1.");
      expect((await find(4))?.sources).toEqual([{ id: source.id, title: "Terms", contentHash: null }]);
    });

    test("have what sources held while they were the current ones, without a new version", async () => {
      const source = await makeSource(world, companion);
      const hashOf = async (number: number) => (await find(number))?.sources[0]?.contentHash;
      await publishNext(world, ["words"]);
      const { contentHash } = (await world.store.knowledge.find(account.id, companion.id, source.id)) ?? {};
      expect(contentHash).toBeString();
      expect([await hashOf(2), await numbers()]).toEqual([contentHash, [2, 1]]);
      await change({ name: "Bo" });
      await world.store.knowledge.delete(account.id, companion.id, source.id, world.context());
      expect([await hashOf(2), await hashOf(3), (await find(4))?.sources]).toEqual([contentHash, contentHash, []]);
    });

    test("share their texts, which count once and go with the last that has them", async () => {
      const systemPrompt = "x".repeat(10_000);
      const other = await world.createCompanion(account, { systemPrompt });
      await change({ systemPrompt });
      const before = await held();
      await change({ name: "Cy" });
      const added = (await held()) - before;
      await world.store.companions.update(account.id, other.id, { name: "Bo" }, world.context());
      expect((await held()) - before - added).toBeLessThan(1_000);
      expect(added).toBeGreaterThan(10_000);
      expect((await find(2))?.settings).toMatchObject({ systemPrompt, name: "Ada" });
      await world.store.companions.delete(account.id, companion.id, world.context());
      await eventually(async () => (await held()) < before + 1_000);
      expect((await find(1, other))?.settings).toMatchObject({ systemPrompt, name: "Ada" });
      await world.store.companions.delete(account.id, other.id, world.context());
      await eventually(async () => (await held()) === 0);
    });

    test("go beyond the newest, but for those that a kept message names", async () => {
      await change({ name: "2" });
      await talk();
      const context = () => world.context({ hasWebhooks: false });
      const rename = (_: unknown, at: number) =>
        world.store.companions.update(account.id, companion.id, { name: `${at}` }, context());
      for (let made = 2; made < maxVersions + 4; ) {
        const some = await Promise.all(Array.from({ length: Math.min(50, maxVersions + 4 - made) }, rename));
        made += some.length;
      }
      const kept = await numbers();
      expect([kept[0], kept.length, kept.slice(-2)]).toEqual([maxVersions + 4, maxVersions + 1, [5, 2]]);
      expect(await find(3)).toBeNull();
      expect((await find(2))?.settings.name).toBe("2");
      const page = await world.store.versions.list(account.id, companion.id, { limit: 2, afterNumber: 7 });
      expect([page?.items.map(({ number }) => number), page?.nextAfterNumber]).toEqual([[6, 5], 5]);
      await world.store.companions.delete(account.id, companion.id, world.context());
      // What usage has recorded of it stays.
      await eventually(async () => (await held()) === '{"plan":"free"}'.length);
    });

    test("of a full account go before anything is refused, the oldest first, but for what is named and current", async () => {
      const long = (letter: string) => ({ systemPrompt: letter.repeat(5_000) });
      await change(long("a"));
      await talk();
      for (const letter of ["b", "c"]) await change(long(letter));
      expect(await numbers()).toEqual([4, 3, 2, 1]);
      const room = await held();
      await change(long("d"), within(room));
      expect(await numbers()).toEqual([5, 4, 2]);
      await expect(change(long("ddd"), within(room))).rejects.toMatchObject({ code: "limit_reached" });
      expect(await numbers()).toEqual([5, 4, 2]);
      // What makes it no larger is always possible.
      await change(long("e"), within(100));
      expect(await numbers()).toEqual([6, 2]);
    });

    test("are restored with their tools in one commit, or not at all", async () => {
      const tool = newTool(companion.id, world.clock.nowMs(), { name: "orders" });
      await world.store.tools.create(account.id, tool, world.context());
      await change({ greeting: "Hello", systemPrompt: null });
      await world.store.tools.delete(account.id, companion.id, tool.id, world.context());
      const version = await find(2);
      const back = { ...tool, id: systemIds.uuid() };
      const restore = (bytes: number) =>
        world.store.versions.restore(
          account.id,
          companion.id,
          (state) => {
            expect([state.companion.version, state.tools]).toEqual([4, []]);
            const { greeting = null, systemPrompt = null } = version?.settings ?? {};
            return { patch: { greeting, systemPrompt }, toolCreates: [back] };
          },
          world.context({ ...within(bytes), change: { via: "restore", note: "Back", actorName: "Ann" } }),
        );
      await expect(restore(10)).rejects.toMatchObject({ code: "limit_reached" });
      const state = await restore(1e9);
      expect(state).toMatchObject({
        companion: { version: 5, toolCount: 1, systemPrompt: "You are Ada." },
        tools: [back],
      });
      expect((await list())[0]).toMatchObject({ via: "restore", note: "Back", actor: { name: "Ann" } });
      const nothing = await world.store.versions.restore(
        account.id,
        companion.id,
        () => ({ patch: {} }),
        world.context(),
      );
      expect([nothing?.companion.version, await numbers()]).toEqual([5, [5, 4, 3, 2, 1]]);
      const page = await world.store.audit.list(account.id, { fromMs: 0, toMs: 1e15 }, { limit: 9, afterId: null });
      expect(page.items[0]).toMatchObject({ action: "companion.restore" });
      expect(
        await world.store.versions.restore(account.id, systemIds.uuid(), () => ({ patch: {} }), world.context()),
      ).toBeNull();
    });
  });

  describe("drafts", () => {
    test("are one of each companion, replaced with what is live then, and go with it", async () => {
      const { drafts } = world.store;
      const before = await held();
      const put = (patch: Partial<Companion>, fields = {}) => {
        return drafts.put(account.id, companion.id, () => patch, world.context(fields));
      };
      const first = await put({ systemPrompt: "Be brief.", starters: ["Hi"] });
      const live = { systemPrompt: "You are Ada.", starters: [] };
      expect(first).toMatchObject({
        patch: { systemPrompt: "Be brief.", starters: ["Hi"] },
        base: live,
        beganVersion: 1,
      });
      expect(await drafts.find(account.id, companion.id)).toEqual(first);
      expect(await held()).toBeGreaterThan(before);
      const second = await put({ greeting: "Hello" });
      expect(second?.updatedAt).toBeGreaterThan(first?.updatedAt ?? 0);
      expect(second).toMatchObject({ patch: { greeting: "Hello" }, base: { greeting: null } });
      await expect(put({ systemPrompt: "long" }, within(10))).rejects.toMatchObject({ code: "limit_reached" });
      expect(await world.store.companions.find(account.id, companion.id)).toMatchObject({ version: 1, greeting: null });
      const stranger = await world.createAccount();
      expect(await drafts.find(stranger.id, companion.id)).toBeNull();
      expect(await drafts.put(stranger.id, companion.id, () => ({}), world.context())).toBeNull();
      const refuse = () => {
        throw new Error("stale");
      };
      await expect(drafts.delete(account.id, companion.id, world.context(), refuse)).rejects.toThrow("stale");
      expect(await drafts.delete(account.id, companion.id, world.context())).toBeTrue();
      expect(await drafts.delete(account.id, companion.id, world.context())).toBeFalse();
      expect(await held()).toBe(before);
      await put({ greeting: "Hello" });
      await world.store.companions.delete(account.id, companion.id, world.context());
      expect([await drafts.find(account.id, companion.id), await held()]).toEqual([null, 0]);
    });

    test("are published once, with a version, however many publish", async () => {
      const { drafts } = world.store;
      await drafts.put(account.id, companion.id, () => ({ greeting: "Hello" }), world.context());
      await change({ name: "Bo" });
      const publish = () =>
        drafts.publish(
          account.id,
          companion.id,
          (current, { patch, beganVersion }) => {
            expect([current.version, beganVersion]).toEqual([2, 1]);
            return patch;
          },
          world.context({ change: { via: "publish", note: null, actorName: null } }),
        );
      const [one, two] = await Promise.all([publish(), publish()]);
      expect([one, two].filter((made) => made !== null)).toMatchObject([{ version: 3, name: "Bo", greeting: "Hello" }]);
      expect((await list())[0]).toMatchObject({ number: 3, via: "publish", changed: ["greeting"] });
      expect(await drafts.find(account.id, companion.id)).toBeNull();
    });
  });
}
