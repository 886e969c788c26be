/** What every coordination engine must do with the work that one instance does for all. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Duties } from "../../src/contracts/coordination.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

export function testDutiesContract(
  engine: string,
  open: () => Promise<{ duties: Duties; close(): Promise<void> }>,
): void {
  describe(`duties: ${engine}`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    let duties: Duties;
    beforeEach(async () => {
      opened = await open();
      ({ duties } = opened);
    });
    afterEach(() => opened.close());

    test("are taken by who asks, and kept", async () => {
      for (let asked = 0; asked < 3; asked++) expect(await duties.take("jobs")).toBe(true);
      expect(await duties.take("set_up_link")).toBe(true);
    });

    test("work of one name runs one after the other, that of another name beside it, and a failure ends only itself", async () => {
      const order: string[] = [];
      const met = Promise.withResolvers<void>();
      const work = (name: string, waitsFor: Promise<void> | null) => async () => {
        order.push(`${name} in`);
        await (waitsFor ?? turnsOfTheLoop(3));
        order.push(`${name} out`);
        return name;
      };
      const first = duties.exclude("a", work("first", met.promise));
      const second = duties.exclude("a", async () => {
        order.push("second");
        throw new Error("No.");
      });
      const third = duties.exclude("a", work("third", null));
      expect(await duties.exclude("b", work("other", null))).toBe("other");
      met.resolve();
      expect(await first).toBe("first");
      await expect(second).rejects.toThrow("No.");
      expect(await third).toBe("third");
      const ofA = order.filter((entry) => !entry.startsWith("other"));
      expect(ofA).toEqual([
        "first in",
        "first out",
        ...(ofA.indexOf("second") === 2 ? ["second", "third in", "third out"] : ["third in", "third out", "second"]),
      ]);
    });
  });
}
