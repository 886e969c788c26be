/** What every storage engine must do with accounts that hold as much as they may. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { NewSource, WriteContext } from "../../src/contracts/store/store.ts";
import type { Account, Holdings } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { newSource, newUpload, publishNext } from "../support/indexed-source.ts";
import {
  firstPage,
  newApiKey,
  newCompanion,
  type OpenStore,
  openWorld,
  type StoreWorld,
} from "../support/store-world.ts";

const roomy: Holdings = { companions: 1000, keys: 1000, tokensPerCompanion: 1000, members: 10, bytes: 1e9 };
const reached = { code: "limit_reached" };

/** What `newCompanion` takes up beside its prompt: its name, two empty lists and empty metadata. */
const plainBytes = "Ada[][]{}".length;

export function holdingsContract(open: OpenStore): void {
  describe("what an account may hold", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    /** On the free plan; paid accounts have all the room. */
    const within = (free: Partial<Holdings>, fields: Partial<WriteContext> = {}) =>
      world.context({ holdings: { free: { ...roomy, ...free }, paid: roomy }, ...fields });
    const held = () => world.store.accounts.findHeld(account.id);
    const create = (context: WriteContext, settings: Partial<CompanionSettings> = {}) =>
      world.store.companions.create(account.id, newCompanion(settings), context);
    const createKey = (context: WriteContext) =>
      world.store.apiKeys.create(account.id, newApiKey({ scopes: [], expiresAt: 9 }), context);
    const createToken = (companionId: string, context: WriteContext) => {
      const token = { id: systemIds.uuid(), token: `emb_${systemIds.secret(32)}`, name: null };
      return world.store.embedTokens.create(account.id, companionId, token, context);
    };
    /** Far fewer than would wait for 10 s behind one another: then they are refused for another reason. */
    async function race(tries: number, attempt: () => Promise<unknown>): Promise<number> {
      const outcomes = await Promise.allSettled(Array.from({ length: tries }, attempt));
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      for (const { reason } of refused) expect(reason).toMatchObject(reached);
      return tries - refused.length;
    }

    test("includes sources: uploads until they are read, then what answers, and texts also as they were written", async () => {
      const { companions, knowledge } = world.store;
      const companion = await world.createCompanion(account);
      const { bytes: own = 0 } = (await held()) ?? {};
      const room = (bytes: number) => within({ bytes: own + bytes });
      const { id } = newSource();
      const send = (sent: NewSource, context: WriteContext) =>
        knowledge.create(account.id, companion.id, sent, context);
      const written = await send(newSource({ upload: newUpload("nine b...") }), room(9));
      await publishNext(world, ["words"]);
      expect(await held()).toMatchObject({ bytes: own + 9 + 5 });
      await knowledge.delete(account.id, companion.id, written?.id ?? "", world.context());
      // A full account keeps no old versions.
      await companions.update(account.id, companion.id, { temperature: 1 }, within({ bytes: 0 }));
      expect(await held()).toMatchObject({ bytes: own });
      await send(newSource({ id, type: "file", upload: newUpload("ten bytes!") }), room(10));
      await expect(send(newSource({ upload: newUpload("1") }), room(10))).rejects.toMatchObject(reached);
      expect(await held()).toMatchObject({ bytes: own + 10 });
      await publishNext(world, ["words"]);
      expect(await held()).toMatchObject({ bytes: own + 5 });
      const replace = (words: string) =>
        knowledge.replace(account.id, companion.id, id, { upload: newUpload(words) }, room(10));
      await expect(replace("six by")).rejects.toMatchObject(reached);
      expect(await knowledge.find(account.id, companion.id, id)).toMatchObject({ status: "ready" });
      await replace("five!");
      expect(await held()).toMatchObject({ bytes: own + 10 });
      await send(newSource({ type: "url", upload: null }), room(10));
      await knowledge.delete(account.id, companion.id, id, world.context());
      await companions.update(account.id, companion.id, { temperature: 0 }, within({ bytes: 0 }));
      expect(await held()).toMatchObject({ bytes: own });
      await companions.delete(account.id, companion.id, world.context());
      expect(await held()).toMatchObject({ bytes: 0 });
    });

    test("is never passed by companions, however many are made at once", async () => {
      for (let made = 0; made < 10; made++) await create(world.context());
      expect(await race(40, () => create(within({ companions: 20 })))).toBe(10);
      expect(await held()).toMatchObject({ companions: 20 });
      const everything = { metadata: [], q: null };
      const { items } = await world.store.companions.list(account.id, everything, { limit: 200, afterId: null });
      expect(items).toHaveLength(20);
      await world.store.companions.delete(account.id, items[0]?.id ?? "", world.context());
      expect(await race(20, () => create(within({ companions: 20 })))).toBe(1);
    });

    test("is never passed by keys: expired ones count, revoked ones do not", async () => {
      expect(await race(40, () => createKey(within({ keys: 5 })))).toBe(5);
      expect(await held()).toMatchObject({ keys: 5 });
      const [first] = await world.store.apiKeys.list(account.id);
      await world.store.apiKeys.revoke(account.id, first?.id ?? "", world.context(), systemIds.uuid);
      expect(await held()).toMatchObject({ keys: 4 });
      expect(await race(20, () => createKey(within({ keys: 5 })))).toBe(1);
      await createKey(world.context());
      expect(await held()).toMatchObject({ keys: 6 });
    });

    test("is never passed by a companion's tokens, and each companion has its own", async () => {
      const one = await world.createCompanion(account);
      const other = await world.createCompanion(account);
      expect(await race(50, () => createToken(one.id, within({ tokensPerCompanion: 4 })))).toBe(3);
      const tokens = await world.store.embedTokens.list(account.id, one.id);
      expect(tokens).toHaveLength(4);
      expect(await race(50, () => createToken(other.id, within({ tokensPerCompanion: 4 })))).toBe(3);
      await world.store.embedTokens.revoke(account.id, one.id, tokens?.[0]?.id ?? "", world.context());
      expect(await race(10, () => createToken(one.id, within({ tokensPerCompanion: 4 })))).toBe(1);
    });

    test("is never passed in bytes, however many are made or grow at once", async () => {
      const { companions } = world.store;
      const bytes = 10 * (plainBytes + 1000);
      expect(await race(40, () => create(within({ bytes }), { systemPrompt: "é".repeat(500) }))).toBe(10);
      expect(await held()).toMatchObject({ companions: 10, bytes });
      const { items } = await companions.list(account.id, { metadata: [], q: null }, firstPage);
      let next = 0;
      const grow = () => {
        const id = items[next++]?.id ?? "";
        return companions.update(account.id, id, { greeting: "0123456789" }, within({ bytes: bytes + 30 }));
      };
      expect(await race(10, grow)).toBe(3);
      expect(await held()).toMatchObject({ bytes: bytes + 30 });
    });

    test("lets an account that holds too much shorten, delete, and change what takes up no more", async () => {
      const { companions } = world.store;
      const { id } = await create(world.context(), { systemPrompt: "x".repeat(5000), greeting: "Hello" });
      const narrow = () => within({ companions: 0, bytes: 100 });
      const update = (patch: Partial<CompanionSettings>) => companions.update(account.id, id, patch, narrow());
      expect(await update({ systemPrompt: "x".repeat(4000) })).not.toBeNull();
      expect(await update({ greeting: "Howdy", temperature: 1, enabled: false })).not.toBeNull();
      expect(await update({ systemPrompt: null, greeting: "x".repeat(3999) })).not.toBeNull();
      await expect(update({ starters: ["More?"] })).rejects.toMatchObject(reached);
      await expect(create(narrow())).rejects.toMatchObject(reached);
      expect(await companions.find(account.id, id)).toMatchObject({ starters: [], systemPrompt: null });
      expect(await companions.delete(account.id, id, narrow())).toBe(true);
      expect(await held()).toEqual({ companions: 0, keys: 0, bytes: 0 });
    });

    test("is counted right whichever way companions come, change and go", async () => {
      const { companions } = world.store;
      const settings = {
        name: "Łovelace 🧵",
        systemPrompt: "prompt",
        greeting: "hello",
        avatarUrl: "https://shop.example/a.png",
        themeColor: "#112233",
        voiceId: "voice",
        model: "model",
        metadata: { plan: "pro" },
        allowedOrigins: ["https://shop.example"],
        starters: ["Why?"],
      };
      const { metadata, allowedOrigins, starters, ...texts } = settings;
      const lists = [metadata, allowedOrigins, starters].map((value) => JSON.stringify(value));
      const bytes = Buffer.byteLength([...Object.values(texts), ...lists].join(""));
      const many = [newCompanion(settings), newCompanion(settings), newCompanion(settings)];
      await companions.createMany(account.id, many, world.context());
      expect(await held()).toEqual({ companions: 3, keys: 0, bytes: 3 * bytes });
      const failing = companions.createMany(account.id, [newCompanion(), ...many.slice(0, 1)], world.context());
      await expect(failing).rejects.toThrow();
      expect(await held()).toEqual({ companions: 3, keys: 0, bytes: 3 * bytes });
      const [first, second] = many;
      const unweighed = { visitorAuth: "required", dailyPerVisitor: 10_000 } as const;
      const cleared = { systemPrompt: null, metadata: {}, voiceId: null, ...unweighed };
      await companions.update(account.id, first?.id ?? "", cleared, within({ bytes: 0 }));
      expect(await held()).toMatchObject({ bytes: 3 * bytes - "promptvoice".length - '{"plan":"pro"}'.length + 2 });
      await companions.delete(account.id, first?.id ?? "", world.context());
      await companions.delete(account.id, second?.id ?? "", world.context());
      expect(await held()).toEqual({ companions: 1, keys: 0, bytes });

      const other = await world.createAccount();
      await world.createCompanion(other, settings);
      expect(await world.store.accounts.findHeld(other.id)).toEqual({ companions: 1, keys: 0, bytes });
      await world.store.accounts.delete(account.id, world.context());
      expect(await held()).toBeNull();
      expect(await world.store.accounts.findHeld(other.id)).toEqual({ companions: 1, keys: 0, bytes });
    });

    test("goes by the plan that the account has at the write", async () => {
      await create(within({ companions: 1 }));
      await expect(create(within({ companions: 1 }))).rejects.toMatchObject(reached);
      await world.store.accounts.update(account.id, { plan: "paid" }, world.context());
      await create(within({ companions: 1 }));
      await world.store.accounts.update(account.id, { plan: "free" }, world.context());
      await expect(create(within({ companions: 1 }))).rejects.toMatchObject(reached);
    });

    test("does not bind writes that bring no limits along", async () => {
      for (let made = 0; made < 3; made++) await create(world.context());
      await world.store.companions.createMany(account.id, [newCompanion(), newCompanion()], world.context());
      const more = [newCompanion(), newCompanion()];
      const bound = world.store.companions.createMany(account.id, more, within({ companions: 6 }));
      await expect(bound).rejects.toMatchObject(reached);
      expect(await held()).toMatchObject({ companions: 5 });
    });

    test("leaves nothing of a refused write: no row, no index, no audit entry, no response", async () => {
      const { audit, companions, idempotency } = world.store;
      const slot = { accountId: account.id, method: "POST", path: "/api/companions", key: "k1" };
      const idempotent = { slot, bodyHash: "b1", status: 201, body: "{}" };
      const metadata = { plan: "pro" };
      await expect(create(within({ companions: 0 }, { idempotent }), { metadata })).rejects.toMatchObject(reached);
      const tagged = { metadata: [{ path: "plan", value: "pro" }], q: null };
      expect((await companions.list(account.id, tagged, firstPage)).items).toEqual([]);
      expect(await idempotency.find(slot, world.clock.nowMs())).toBeNull();
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items.map(({ action }) => action)).toEqual(["account.create"]);
    });

    test("includes metadata as it was recorded with usage, as long as the account is there", async () => {
      const { companions, turns } = world.store;
      const companion = await world.createCompanion(account, { metadata: { plan: "free" } });
      const { bytes: own = 0 } = (await held()) ?? {};
      await turns.settle(world.turnOf(companion));
      await turns.settle(world.turnOf(companion));
      const metadata = { plan: "x".repeat(1_000) };
      await companions.update(account.id, companion.id, { metadata }, world.context());
      await turns.settle(world.turnOf(companion));
      await companions.delete(account.id, companion.id, world.context());
      const recorded = JSON.stringify({ plan: "free" }).length + JSON.stringify(metadata).length;
      expect((await held())?.bytes).toBe(recorded);
      expect(recorded).toBeGreaterThan(own);
      const context = within({ bytes: recorded });
      await expect(create(context)).rejects.toMatchObject(reached);
    });

    test("bounds the responses that are stored for retries, until they are dropped", async () => {
      const { companions, idempotency } = world.store;
      let keys = 0;
      const body = "x".repeat(1000);
      /** Made and deleted: nothing is left of it but the answer. */
      const tryOnce = async () => {
        const slot = { accountId: account.id, method: "POST", path: "/api/companions", key: `k${keys++}` };
        const idempotent = { slot, bodyHash: "b1", status: 201, body };
        const { id } = await create(within({ bytes: 3500 }, { idempotent }));
        await companions.delete(account.id, id, world.context());
      };
      for (let made = 0; made < 3; made++) await tryOnce();
      await expect(tryOnce()).rejects.toMatchObject(reached);
      expect(await held()).toEqual({ companions: 0, keys: 0, bytes: 0 });
      await create(within({ bytes: 3500 }));
      world.clock.advance(24 * 60 * 60_000 + 1);
      expect(await idempotency.purge(world.clock.nowMs(), 2)).toBe(2);
      await tryOnce();
      await tryOnce();
      await expect(tryOnce()).rejects.toMatchObject(reached);
    });
  });
}
