/** What every storage engine must do with embed tokens. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { makeEmbedToken } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { firstPage, type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

function newToken(name: string | null = null) {
  return { id: systemIds.uuid(), token: makeEmbedToken(systemIds.secret), name };
}

export function embedTokenStoreContract(open: OpenStore): void {
  describe("embed tokens", () => {
    let world: StoreWorld;
    let account: Account;
    let companion: Companion & { embedToken: string };
    beforeEach(async () => {
      world = await openWorld(open);
      account = await world.createAccount();
      companion = await world.createCompanion(account);
    });
    afterEach(() => world.close());

    test("lead to the companion, each by its own id, oldest first in the list", async () => {
      const { store } = world;
      world.clock.advance(1000);
      const added = newToken("Shop");
      const made = await store.embedTokens.create(account.id, companion.id, added, world.context());
      const expected = { ...added, companionId: companion.id, createdAt: world.clock.nowMs(), lastUsedAt: null };
      expect(made).toEqual(expected);
      const tokens = await store.embedTokens.list(account.id, companion.id);
      expect(tokens?.map((token) => token.token)).toEqual([companion.embedToken, added.token]);
      const target = await store.companions.findByEmbedToken(added.token);
      expect(target).toMatchObject({ tokenId: added.id, plan: "free", companion: { id: companion.id } });
      expect(target?.companion.embedToken).toBe(companion.embedToken);
    });

    test("are refused at once when revoked, and the companion shows the oldest that is left", async () => {
      const { store } = world;
      world.clock.advance(1000);
      const second = newToken();
      await store.embedTokens.create(account.id, companion.id, second, world.context());
      const [first] = (await store.embedTokens.list(account.id, companion.id)) ?? [];
      expect(await store.embedTokens.revoke(account.id, companion.id, first?.id ?? "", world.context())).toBe(true);
      expect(await store.companions.findByEmbedToken(companion.embedToken)).toBeNull();
      expect((await store.companions.find(account.id, companion.id))?.embedToken).toBe(second.token);
      expect(await store.embedTokens.revoke(account.id, companion.id, second.id, world.context())).toBe(true);
      expect(await store.embedTokens.revoke(account.id, companion.id, second.id, world.context())).toBe(false);
      expect((await store.companions.find(account.id, companion.id))?.embedToken).toBeNull();
      expect(await store.embedTokens.list(account.id, companion.id)).toEqual([]);
    });

    test("are out of reach for another account, or through another companion", async () => {
      const { embedTokens } = world.store;
      const other = await world.createAccount();
      const sibling = await world.createCompanion(account);
      const [token] = (await embedTokens.list(account.id, companion.id)) ?? [];
      expect(await embedTokens.list(other.id, companion.id)).toBeNull();
      expect(await embedTokens.create(other.id, companion.id, newToken(), world.context())).toBeNull();
      expect(await embedTokens.revoke(other.id, companion.id, token?.id ?? "", world.context())).toBe(false);
      expect(await embedTokens.revoke(account.id, sibling.id, token?.id ?? "", world.context())).toBe(false);
      expect(await world.store.companions.findByEmbedToken(companion.embedToken)).not.toBeNull();
    });

    test("hold as long as they lead to the companion, which is owned as long as it and its account are there", async () => {
      const { accounts, companions, embedTokens } = world.store;
      const { id, embedToken } = companion;
      const context = () => world.context();
      let mark = await companions.getChangeMark();
      const expectHolding = async (token: boolean, owned: boolean) => {
        expect((await companions.checkEmbedToken(embedToken)) !== null).toBe(token);
        expect((await companions.findByEmbedToken(embedToken)) !== null).toBe(token);
        expect((await companions.checkOwned(account.id, id)) !== null).toBe(owned);
        expect(await companions.getChangeMark()).not.toBe(mark);
        mark = await companions.getChangeMark();
      };
      await companions.update(account.id, id, { name: "Grace" }, context());
      await expectHolding(true, true);
      await companions.update(account.id, id, { enabled: false }, context());
      await expectHolding(false, true);
      await companions.update(account.id, id, { enabled: true }, context());
      await accounts.update(account.id, { suspendedAt: 1 }, context());
      await expectHolding(false, false);
      await accounts.update(account.id, { suspendedAt: null }, context());
      await expectHolding(true, true);
      const [token] = (await embedTokens.list(account.id, id)) ?? [];
      await embedTokens.revoke(account.id, id, token?.id ?? "", context());
      await expectHolding(false, true);
      await companions.delete(account.id, id, context());
      await expectHolding(false, false);

      const second = await world.createCompanion(account);
      const other = await world.createAccount();
      expect((await companions.checkOwned(other.id, second.id)) !== null).toBe(false);
      await accounts.delete(account.id, context());
      expect((await companions.checkEmbedToken(second.embedToken)) !== null).toBe(false);
      expect((await companions.checkOwned(account.id, second.id)) !== null).toBe(false);
      expect((await companions.checkEmbedToken("emb_unknown")) !== null).toBe(false);
    });

    test("keep when they were last used, going back only where the clock was ahead before", async () => {
      const { embedTokens } = world.store;
      const [token] = (await embedTokens.list(account.id, companion.id)) ?? [];
      const tokenId = token?.id ?? "";
      await embedTokens.recordUses([
        { tokenId, lastUsedAt: 2000 },
        { tokenId: systemIds.uuid(), lastUsedAt: 3000 },
      ]);
      await embedTokens.recordUses([{ tokenId, lastUsedAt: 1000 }]);
      expect((await embedTokens.list(account.id, companion.id))?.[0]?.lastUsedAt).toBe(2000);
      await embedTokens.recordUses([{ tokenId, lastUsedAt: 2_000_000 }]);
      await embedTokens.recordUses([{ tokenId, lastUsedAt: 3000 }]);
      expect((await embedTokens.list(account.id, companion.id))?.[0]?.lastUsedAt).toBe(3000);
    });

    test("stay out of the audit trail", async () => {
      const added = newToken("Shop");
      await world.store.embedTokens.create(account.id, companion.id, added, world.context());
      await world.store.embedTokens.revoke(account.id, companion.id, added.id, world.context());
      const trail = await world.store.audit.list(account.id, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
      expect(trail.items.slice(0, 2)).toMatchObject([
        { action: "embed_token.revoke", targetId: added.id, details: { companionId: companion.id, name: "Shop" } },
        { action: "embed_token.create", targetId: added.id },
      ]);
      expect(JSON.stringify(trail)).not.toContain(added.token);
    });
  });
}
