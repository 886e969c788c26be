/** What every storage engine must do with solved challenges. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type OpenStore, openWorld, type StoreWorld } from "../support/store-world.ts";

export function challengeStoreContract(open: OpenStore): void {
  describe("spent challenges", () => {
    let world: StoreWorld;
    beforeEach(async () => {
      world = await openWorld(open);
    });
    afterEach(() => world.close());

    const spend = (signature: string, use: string | null, expiresAt = 1_000) =>
      world.store.challenges.spend({ signature, use: use === null ? null : { name: use, repeats: 3 }, expiresAt });

    test("begin one thing, and that again as often as it says where it has a name", async () => {
      const { challenges } = world.store;
      expect(await challenges.isUsedUp("s1")).toBe(false);
      expect(await spend("s1", "one")).toBe(true);
      expect(await spend("s1", "one")).toBe(true);
      expect(await spend("s1", "other")).toBe(false);
      expect(await spend("s1", null)).toBe(false);
      const [twice, third] = await Promise.all([spend("s1", "one"), spend("s1", "one")]);
      expect([twice, third]).toEqual([true, true]);
      expect(await spend("s1", "one")).toBe(false);
      expect(await challenges.isUsedUp("s1")).toBe(false);
      const once = { signature: "s9", use: { name: "one", repeats: 0 }, expiresAt: 1_000 };
      expect([await challenges.spend(once), await challenges.spend(once)]).toEqual([true, false]);
    });

    test("are used up by what has no name", async () => {
      const { challenges } = world.store;
      expect(await spend("s2", null)).toBe(true);
      expect(await challenges.isUsedUp("s2")).toBe(true);
      expect(await spend("s2", null)).toBe(false);
      expect(await spend("s2", "one")).toBe(false);
    });

    test("let one of many at once begin", async () => {
      const unnamed = await Promise.all(Array.from({ length: 8 }, () => spend("s3", null)));
      expect(unnamed.filter(Boolean)).toHaveLength(1);
      const named = await Promise.all(Array.from({ length: 8 }, (_, index) => spend("s4", `message ${index}`)));
      expect(named.filter(Boolean)).toHaveLength(1);
    });

    test("are forgotten once they are over, a few at a time", async () => {
      const { challenges } = world.store;
      for (let index = 0; index < 5; index++) await spend(`s${index}`, null, 1_000 + index);
      expect(await challenges.purge(999, 10)).toBe(0);
      expect(await challenges.purge(1_003, 3)).toBe(3);
      expect(await challenges.purge(1_003, 3)).toBe(1);
      expect(await challenges.isUsedUp("s3")).toBe(false);
      expect(await challenges.isUsedUp("s4")).toBe(true);
    });
  });
}
