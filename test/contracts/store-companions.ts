/** What every storage engine must do with companions. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { CompanionSettings } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { freeToSpend } from "../support/answered.ts";
import { firstPage, newCompanion, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

const everything: CompanionSettings = {
  slug: null,
  name: "Ada “the loom” Łovelace 🧵",
  systemPrompt: "You are Ada.",
  greeting: "Hello",
  avatarUrl: "https://shop.example/a.png",
  themeColor: "#112233",
  appearance: {
    ...{ theme: "light", position: "left", header: "tinted", icon: "avatar", radius: 0 },
    teaser: { text: "Looms?", afterSeconds: 5 },
    greetings: { de: "Grüß Gott", "pt-br": "Oi" },
  },
  voiceId: "voice-1",
  voiceAgentId: null,
  model: "gpt-6-luna",
  temperature: 0.7,
  reasoningEffort: "xhigh",
  maxOutputTokens: 100,
  contextTokens: 2000,
  metadata: { plan: "pro", user: { id: 42 }, tags: ["a", "b"], constructor: "x", empty: {}, none: null },
  allowedOrigins: ["https://shop.example"],
  starters: ["What is a loom?"],
  retentionDays: 30,
  visitorAuth: "required",
  dailyPerVisitor: 20,
  dailyMessages: 30,
  monthlyTokens: 1_000_000_000_000,
  challenge: "auto",
  answerMode: "grounded",
  citations: "markers",
  noAnswerText: "Ask us by mail.",
  handoff: {
    mode: "any",
    ask: ["visitor", "no_answer"],
    when: "hours",
    hours: { timezone: "Europe/Berlin", week: { mon: [["09:00", "17:30"]] }, closed: ["2026-12-25"] },
    waitSeconds: 60,
    idleMinutes: 10,
    waitingText: "Somebody comes.",
    personText: null,
    unavailableText: "Nobody is here — gone home.",
  },
  leads: { when: "always", consentText: "You may write to me.", replyTo: "team@shop.example" },
  ratings: true,
  askResolved: true,
  enabled: true,
};

const roomy = { companions: 1000, keys: 1000, tokensPerCompanion: 1000, members: 10, bytes: 1e9 };
const newest = { metadata: [], q: null };

export function companionStoreContract(open: OpenStore): void {
  describe("companions", () => {
    let world: StoreWorld;
    let account: Account;
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
    });
    afterEach(() => world.close());

    test("are counted by their model, those of every account", async () => {
      const { companions } = world.store;
      expect([...(await companions.countByModel())]).toEqual([]);
      const others = await world.createAccount();
      for (const [owner, model] of [
        [account, null],
        [account, "small"],
        [others, "small"],
        [others, "large"],
      ] as const) {
        await world.createCompanion(owner, { model });
      }
      // More than are read at once.
      const many = Array.from({ length: 1100 }, () => ({ ...newCompanion(), model: "many" }));
      await companions.createMany(account.id, many, world.context());
      const counts = await companions.countByModel();
      expect(Object.fromEntries([...counts].map(([model, count]) => [String(model), count]))).toEqual({
        ...{ null: 1, small: 2, large: 1, many: 1100 },
      });
    });

    test("come back as they were made", async () => {
      const { companions } = world.store;
      const { embedToken, ...fields } = { ...newCompanion(), ...everything, createdByKeyId: "k1" };
      const made = await companions.create(account.id, { ...fields, embedToken }, world.context());
      const nowMs = world.clock.nowMs();
      const expected = {
        ...fields,
        accountId: account.id,
        version: 1,
        embedToken: embedToken.token,
        hasSources: false,
        toolCount: 0,
        hadPeople: false,
        ...{ avatarHash: null, avatarBytes: null, seenOn: null },
        createdAt: nowMs,
        updatedAt: nowMs,
      };
      expect(made).toEqual(expected);
      expect(await companions.find(account.id, made.id)).toEqual(expected);
      const target = await companions.findByEmbedToken(embedToken.token);
      expect(target).toEqual({ companion: expected, tokenId: embedToken.id, plan: "free", spending: freeToSpend });
    });

    test("have an avatar that counts in bytes, changes them without a version, and goes with them", async () => {
      const { accounts, audit, companions } = world.store;
      const [mine, twin] = [await world.createCompanion(account), await world.createCompanion(account)];
      const bytesOf = async () => (await accounts.findHeld(account.id))?.bytes ?? 0;
      const before = await bytesOf();
      const set = (id: string, avatar: { hash: string; image: Uint8Array } | null, of = account.id) =>
        companions.setAvatar(of, id, avatar, world.context());
      const image = new Uint8Array(5000).fill(7);
      expect(await set(mine.id, { hash: "a", image }, (await world.createAccount()).id)).toBeNull();
      expect(await set(mine.id, { hash: "a", image })).toMatchObject({
        avatarHash: "a",
        avatarBytes: 5000,
        version: 1,
      });
      await set(twin.id, { hash: "a", image });
      expect(await companions.find(account.id, mine.id)).toMatchObject({ avatarHash: "a", avatarBytes: 5000 });
      expect(await companions.findByEmbedToken(mine.embedToken)).toMatchObject({ companion: { avatarHash: "a" } });
      expect((await bytesOf()) - before).toBe(10_000);
      expect([...((await companions.findAvatar("a")) ?? [])]).toEqual([...image]);
      const [last] = (await audit.list(account.id, { fromMs: 0, toMs: 9e15 }, firstPage)).items;
      expect(last).toMatchObject({ action: "companion.update", targetId: twin.id, details: { changed: ["avatar"] } });
      const full = { holdings: { free: { ...roomy, bytes: before + 10_000 }, paid: roomy } };
      const larger = { hash: "b", image: new Uint8Array(5001) };
      const refused = companions.setAvatar(account.id, mine.id, larger, world.context(full));
      expect(await refused.catch(({ code }) => code)).toBe("limit_reached");
      const stop = () => {
        throw new Error("changed");
      };
      const checked = companions.setAvatar(account.id, mine.id, larger, world.context(), stop);
      expect(await checked.catch(({ message }) => message)).toBe("changed");
      await set(mine.id, { hash: "c", image: new Uint8Array(10) });
      expect((await bytesOf()) - before).toBe(5010);
      await set(mine.id, null);
      await companions.delete(account.id, twin.id, world.context());
      expect([await companions.findAvatar("a"), await companions.findAvatar("c")]).toEqual([null, null]);
      expect(await companions.find(account.id, mine.id)).toMatchObject({ avatarHash: null, avatarBytes: null });
    });

    test("know the websites that they were seen on, each once a day, and forget none that is alive for another", async () => {
      const { companions } = world.store;
      const { id } = await world.createCompanion(account);
      const dayMs = 24 * 60 * 60_000;
      const see = (origin: string, seenAt: number) => companions.recordSeen([{ companionId: id, origin, seenAt }]);
      const read = async () => (await companions.find(account.id, id))?.seenOn ?? [];
      await companions.recordSeen([
        { companionId: id, origin: "https://a.example", seenAt: 1000 },
        { companionId: systemIds.uuid(), origin: "https://a.example", seenAt: 1000 },
        { companionId: id, origin: "https://b.example", seenAt: 2000 },
      ]);
      const b = { origin: "https://b.example", firstSeenAt: 2000, lastSeenAt: 2000 };
      await see("https://a.example", 3000);
      expect(await read()).toEqual([b, { origin: "https://a.example", firstSeenAt: 1000, lastSeenAt: 1000 }]);
      await see("https://a.example", dayMs);
      expect(await read()).toEqual([{ origin: "https://a.example", firstSeenAt: 1000, lastSeenAt: dayMs }, b]);
      for (let made = 0; made < 30; made++) await see(`https://${made}.example`, dayMs + made);
      const full = (await read()).map(({ origin }) => origin);
      expect([full.length, full.includes("https://a.example"), full.includes("https://b.example")]).toEqual([
        20,
        true,
        true,
      ]);
      await see("https://late.example", 8 * dayMs);
      const later = (await read()).map(({ origin }) => origin);
      expect([later.length, later[0], later.includes("https://b.example")]).toEqual([
        20,
        "https://late.example",
        false,
      ]);
    });

    test("are out of reach for another account, and for tokens of no one", async () => {
      const { companions } = world.store;
      const other = await world.createAccount();
      const { id } = await world.createCompanion(account);
      expect(await companions.find(other.id, id)).toBeNull();
      expect(await companions.update(other.id, id, { name: "Eve" }, world.context())).toBeNull();
      expect(await companions.delete(other.id, id, world.context())).toBe(false);
      expect((await companions.list(other.id, newest, firstPage)).items).toEqual([]);
      expect(await companions.findByEmbedToken("emb_unknown")).toBeNull();
      expect((await companions.find(account.id, id))?.name).toBe("Ada");
    });

    test("disabled, or of a suspended account, are not behind their tokens until that ends", async () => {
      const { accounts, companions } = world.store;
      const { id, embedToken } = await world.createCompanion(account);
      await companions.update(account.id, id, { enabled: false }, world.context());
      expect(await companions.findByEmbedToken(embedToken)).toBeNull();
      await companions.update(account.id, id, { enabled: true }, world.context());
      await accounts.update(account.id, { suspendedAt: 1 }, world.context());
      expect(await companions.findByEmbedToken(embedToken)).toBeNull();
      await accounts.update(account.id, { suspendedAt: null, plan: "paid" }, world.context());
      expect(await companions.findByEmbedToken(embedToken)).toMatchObject({ plan: "paid" });
    });

    test("change only what the patch names, whole or to nothing", async () => {
      const { companions, audit } = world.store;
      const companion = await world.createCompanion(account, everything);
      world.clock.advance(1000);
      const patch = { greeting: null, metadata: { plan: "free" }, starters: [], temperature: 0 };
      const updated = await companions.update(account.id, companion.id, patch, world.context());
      expect(updated).toEqual({ ...companion, ...patch, version: 2, updatedAt: world.clock.nowMs() });
      expect(await companions.find(account.id, companion.id)).toEqual(updated);
      const trail = await audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items[0]).toMatchObject({
        action: "companion.update",
        targetId: companion.id,
        details: { changed: ["greeting", "metadata", "starters", "temperature"] },
      });
      expect(JSON.stringify(trail)).not.toContain("You are Ada.");
    });

    test("are listed newest first in pages that inserts and deletions do not shift", async () => {
      const { companions } = world.store;
      const made = [];
      for (let at = 0; at < 7; at++) made.push(await world.createCompanion(account, { name: `Companion ${at}` }));
      const ids = made.map((companion) => companion.id).reverse();
      const first = await companions.list(account.id, newest, { limit: 3, afterId: null });
      expect(first.items.map((item) => item.id)).toEqual(ids.slice(0, 3));
      await world.createCompanion(account);
      // The very companion that the cursor stands on.
      await companions.delete(account.id, first.nextAfterId ?? "", world.context());
      const second = await companions.list(account.id, newest, { limit: 3, afterId: first.nextAfterId });
      expect(second.items.map((item) => item.id)).toEqual(ids.slice(3, 6));
      const third = await companions.list(account.id, newest, { limit: 3, afterId: second.nextAfterId });
      expect(third.items.map((item) => item.id)).toEqual(ids.slice(6));
      expect(third.nextAfterId).toBeNull();
    });

    test("are searched by part of the name in any case, or by their whole id", async () => {
      const { companions } = world.store;
      const other = await world.createAccount();
      const loom = await world.createCompanion(account, { name: "Ärzte-LOOM 100%" });
      const plain = await world.createCompanion(account, { name: "Plain", metadata: { plan: "pro" } });
      const foreign = await world.createCompanion(other, { name: "Loom" });
      const search = async (q: string, metadata: { path: string; value: string }[] = []) =>
        (await companions.list(account.id, { metadata, q }, firstPage)).items.map((item) => item.id);
      expect(await search("loom")).toEqual([loom.id]);
      expect(await search("äRZTE")).toEqual([loom.id]);
      expect(await search("0%")).toEqual([loom.id]);
      expect(await search("_")).toEqual([]);
      expect(await search("l")).toEqual([plain.id, loom.id]);
      expect(await search(plain.id)).toEqual([plain.id]);
      expect(await search(plain.id.toUpperCase())).toEqual([plain.id]);
      expect(await search(foreign.id)).toEqual([]);
      expect(await search("plain", [{ path: "plan", value: "pro" }])).toEqual([plain.id]);
      expect(await search("loom", [{ path: "plan", value: "pro" }])).toEqual([]);
      expect(await search(loom.id, [{ path: "plan", value: "pro" }])).toEqual([]);
      await companions.update(account.id, plain.id, { name: "Fancy" }, world.context());
      expect(await search("plain")).toEqual([]);
      expect(await search("fancy")).toEqual([plain.id]);
    });

    test("found by a search come in pages too", async () => {
      const { companions } = world.store;
      const made = [];
      for (let at = 0; at < 5; at++) made.push(await world.createCompanion(account, { name: `Match ${at}` }));
      const query = { metadata: [], q: "match" };
      const first = await companions.list(account.id, query, { limit: 3, afterId: null });
      const second = await companions.list(account.id, query, { limit: 3, afterId: first.nextAfterId });
      const found = [...first.items, ...second.items].map((item) => item.id);
      expect(found).toEqual(made.map((companion) => companion.id).reverse());
      expect(second.nextAfterId).toBeNull();
    });

    test("take their tokens, conversations and index rows with them; usage stays", async () => {
      const { store } = world;
      const companion = await world.createCompanion(account, { metadata: { plan: "pro" } });
      const kept = await world.createCompanion(account, { metadata: { plan: "pro" } });
      const turn = world.turnOf(companion);
      await store.turns.settle(turn);
      expect(await store.companions.delete(account.id, companion.id, world.context())).toBe(true);
      expect(await store.companions.delete(account.id, companion.id, world.context())).toBe(false);
      expect(await store.companions.find(account.id, companion.id)).toBeNull();
      expect(await store.companions.findByEmbedToken(companion.embedToken)).toBeNull();
      expect(await store.embedTokens.list(account.id, companion.id)).toBeNull();
      expect(await store.conversations.find(account.id, turn.conversationId)).toBeNull();
      const anything = { companionId: null, visitorId: null, fromMs: null, toMs: null, q: null };
      expect((await store.conversations.list(account.id, anything, firstPage)).items).toEqual([]);
      const tagged = { metadata: [{ path: "plan", value: "pro" }], q: null };
      const { items } = await store.companions.list(account.id, tagged, firstPage);
      expect(items.map((item) => item.id)).toEqual([kept.id]);
      const usage = {
        fromDay: "2026-01-15",
        toDay: "2026-01-15",
        groupBy: ["companion"],
        companionId: null,
        metadata: [],
      } as const;
      expect(await store.usage.query(account.id, usage)).toMatchObject([{ companionId: companion.id, messages: 1 }]);
    });

    test("are imported many at once, all or none", async () => {
      const { companions } = world.store;
      const many = Array.from({ length: 150 }, (_, at) => newCompanion({ name: `C${at}`, metadata: { batch: "one" } }));
      await companions.createMany(account.id, many, world.context());
      const tagged = { metadata: [{ path: "batch", value: "one" }], q: null };
      expect((await companions.list(account.id, tagged, { limit: 100, afterId: null })).items).toHaveLength(100);
      const [known] = many;
      const clashing = [newCompanion({ metadata: { batch: "two" } }), ...(known === undefined ? [] : [known])];
      await expect(companions.createMany(account.id, clashing, world.context())).rejects.toThrow();
      const none = { metadata: [{ path: "batch", value: "two" }], q: null };
      expect((await companions.list(account.id, none, firstPage)).items).toEqual([]);
    });

    test("cannot be created for an account that no longer exists", async () => {
      const missing = world.store.companions.create(systemIds.uuid(), newCompanion(), world.context());
      await expect(missing).rejects.toMatchObject({ code: "not_found" });
    });

    test("take the voice agents of grants alone, and any number of accounts may have the same one", async () => {
      const { companions } = world.store;
      const other = await world.createAccount();
      await world.grantAgent(account, "agent-1");
      await world.createCompanion(account, { voiceAgentId: "agent-1" });
      const second = await world.createCompanion(account, { voiceAgentId: "agent-1" });
      const foreign = await world.createCompanion(other);
      const refusal = { code: "invalid_request", errors: [{ param: "voice_agent_id" }] };
      const patch = { voiceAgentId: "agent-1" };
      await expect(companions.update(other.id, foreign.id, patch, world.context())).rejects.toMatchObject(refusal);
      await expect(world.createCompanion(other, patch)).rejects.toMatchObject(refusal);
      const many = companions.createMany(other.id, [newCompanion(), newCompanion(patch)], world.context());
      await expect(many).rejects.toMatchObject(refusal);
      expect((await companions.list(other.id, newest, firstPage)).items).toEqual([{ ...foreign } as never]);
      await companions.update(account.id, second.id, { voiceAgentId: "agent-1" }, world.context());
      await world.grantAgent(other, "agent-1");
      expect(await world.createCompanion(other, patch)).toMatchObject(patch);

      // Nobody has it by having named it first.
      for (const owner of [account, other]) {
        await expect(world.createCompanion(owner, { voiceAgentId: "agent-2" })).rejects.toMatchObject(refusal);
      }
      const operator = await world.createAccount({ role: "operator" });
      expect(await world.createCompanion(operator, { voiceAgentId: "agent-2" })).toMatchObject({
        voiceAgentId: "agent-2",
      });
    });

    test("have a voice or a voice agent, never both, whichever of two updates comes first", async () => {
      const { companions } = world.store;
      const { id } = await world.createCompanion(account);
      await world.grantAgent(account, "agent-1");
      const patches = [{ voiceId: "voice-1" }, { voiceAgentId: "agent-1" }];
      const outcomes = await Promise.allSettled(
        patches.map((patch) => companions.update(account.id, id, patch, world.context())),
      );
      expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected"]);
      expect(outcomes[1]).toMatchObject({
        reason: { code: "invalid_request", errors: [{ param: "voice_id" }, { param: "voice_agent_id" }] },
      });
      expect(await companions.find(account.id, id)).toMatchObject({ voiceId: "voice-1", voiceAgentId: null });
      const swap = { voiceId: null, voiceAgentId: "agent-1" };
      expect(await companions.update(account.id, id, swap, world.context())).toMatchObject(swap);
      await expect(world.createCompanion(account, { voiceId: "v", voiceAgentId: "a" })).rejects.toMatchObject({
        code: "invalid_request",
      });
    });
  });
}
