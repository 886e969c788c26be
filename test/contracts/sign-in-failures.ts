/** What every engine that counts failed sign-ins must do. */
import { beforeEach, describe, expect, test } from "bun:test";
import type { SignInFailures } from "../../src/contracts/coordination.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const minuteMs = 60_000;

/** `open` gets the clock that the engine is to count by, and returns an empty engine. */
export function testSignInFailuresContract(
  engine: string,
  open: (clock: ManualClock) => SignInFailures | Promise<SignInFailures>,
): void {
  let clock: ManualClock;
  let signInFailures: SignInFailures;

  describe(`sign-in failures: ${engine}`, () => {
    beforeEach(async () => {
      clock = createManualClock(Date.UTC(2026, 0, 15, 12));
      signInFailures = await open(clock);
    });

    async function addWhere(subject: string, free: number): Promise<number> {
      const failure = await signInFailures.addUnlessWaiting("client", subject, free);
      return "waitMs" in failure ? failure.waitMs : 0;
    }

    test("are counted by kind and subject", async () => {
      expect((await signInFailures.add("account", "a")).count).toBe(1);
      expect((await signInFailures.add("account", "a")).count).toBe(2);
      expect(await signInFailures.count("account", "a")).toBe(2);
      expect(await signInFailures.count("account", "b")).toBe(0);
      expect(await signInFailures.count("code", "a")).toBe(0);
    });

    test("of many at once no more are noted than are free", async () => {
      const waits = await Promise.all(Array.from({ length: 20 }, () => addWhere("a", 5)));
      expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(5);
      expect(new Set(waits)).toEqual(new Set([0, 1000]));
      expect(await signInFailures.count("client", "a")).toBe(5);
    });

    test("make wait twice as long each time, a quarter of an hour at most, and no longer for asking", async () => {
      const waits: number[] = [];
      for (let failures = 0; failures < 14; failures++) {
        const waitMs = await addWhere("a", 2);
        waits.push(waitMs);
        if (waitMs === 0) continue;
        clock.advance(waitMs - 1);
        expect(await addWhere("a", 2)).toBe(1);
        clock.advance(1);
        expect(await addWhere("a", 2)).toBe(0);
      }
      const seconds = [0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900];
      expect(waits).toEqual(seconds.map((wait) => wait * 1000));
    });

    test("that were none are taken back, with the wait that they made", async () => {
      await signInFailures.add("client", "a");
      clock.advance(10_000);
      const failure = await signInFailures.add("client", "a");
      expect(await addWhere("a", 1)).toBe(2000);
      failure.takeBack();
      expect(await signInFailures.count("client", "a")).toBe(1);
      expect(await addWhere("a", 1)).toBe(0);
    });

    test("are forgotten when told to, and an hour after the last one", async () => {
      await signInFailures.add("account", "a");
      signInFailures.clear("account", "a");
      expect(await signInFailures.count("account", "a")).toBe(0);
      await signInFailures.add("account", "a");
      clock.advance(60 * minuteMs - 1);
      expect(await signInFailures.count("account", "a")).toBe(1);
      await signInFailures.add("account", "a");
      clock.advance(60 * minuteMs - 1);
      expect(await signInFailures.count("account", "a")).toBe(2);
      clock.advance(1);
      expect(await signInFailures.count("account", "a")).toBe(0);
    });
  });
}
