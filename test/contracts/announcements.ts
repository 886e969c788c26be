/** What every engine of announcements must do. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Announcements } from "../../src/contracts/announcements.ts";
import { eventually } from "../support/eventually.ts";

export interface AnnouncementsWorld {
  readonly here: Announcements;
  /** Other instances; none where there can be none. */
  readonly others: readonly Announcements[];
  close(): Promise<void>;
}

/** What instances say while they wait for each other: it may arrive late. */
export const begins = "begins";

/** Of one instance. */
function hearAll(announcements: Announcements) {
  const texts: string[] = [];
  let losses = 0;
  announcements.onReceived((received) => {
    if (received === "may_have_missed") losses++;
    else if (received.text !== begins) texts.push(received.text);
  });
  return { texts, countLosses: () => losses };
}

export function testAnnouncementsContract(engine: string, open: () => Promise<AnnouncementsWorld>): void {
  describe(`announcements: ${engine}`, () => {
    let world: AnnouncementsWorld;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world.close());

    test("says whether there can be others", () => {
      for (const one of [world.here, ...world.others]) expect(one.isShared).toBe(world.others.length > 0);
    });

    test("arrive at all others in order, and never at the one that sent them", async () => {
      const own = hearAll(world.here);
      const heard = world.others.map(hearAll);
      const sent = Array.from({ length: 500 }, (_, number) => `line ${number} ${"ä".repeat(number % 200)}`);
      for (const text of sent) world.here.send(text);
      for (const { texts } of heard) {
        await eventually(() => texts.length === sent.length);
        expect(texts).toEqual(sent);
      }
      expect(own.texts).toEqual([]);
    });

    test("what is too long to be sent, or too much, is lost without a failure", async () => {
      const heard = world.others.map(hearAll);
      world.here.send("x".repeat(501));
      for (let number = 0; number < 20_000; number++) world.here.send(`n${number}`);
      for (const { texts } of heard) {
        // Any of them may be lost on a busy machine: whatever came first has come when the end is heard.
        await eventually(
          () => {
            if (!texts.includes("end")) world.here.send("end");
            return texts.includes("end");
          },
          { everyMs: 200 },
        );
        expect(texts).not.toContain("n10000");
        expect(texts.length).toBeGreaterThan(1);
      }
      expect(world.here.send("later")).toBeUndefined();
    });
  });
}
