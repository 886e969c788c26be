/**
 * What every coordination engine must do, whether it agrees with itself alone or with other instances. Failed sign-ins,
 * which may have an engine of their own, are in `sign-in-failures.ts`.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type Coordination,
  maxWaitingTurns,
  type QuotaRefusal,
  type Reservation,
  type TurnTicket,
} from "../../src/contracts/coordination.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { createRandom } from "../support/random.ts";
import { turnEntry } from "../support/turn-entry.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

export interface CoordinationUnderTest {
  coordination: Pick<Coordination, "turns" | "voiceSessions" | "arrivals">;
  /** Makes one message or voice session of the companion's day durable, as a store's commit does. */
  keep(kind: "message" | "voice_session", companionId: string, day: string): Promise<void>;
  /** The same for one of a verified visitor's own day. */
  keepOwn(companionId: string, visitorId: string, day: string): Promise<void>;
  close(): Promise<void>;
}

const stays = new AbortController().signal;
const minuteMs = 60_000;
const noon = Date.UTC(2026, 0, 15, 12);

export function testCoordinationContract(
  engine: string,
  open: (clock: ManualClock) => Promise<CoordinationUnderTest>,
): void {
  let clock: ManualClock;
  let opened: CoordinationUnderTest;
  let coordination: CoordinationUnderTest["coordination"];
  beforeEach(async () => {
    clock = createManualClock(noon);
    opened = await open(clock);
    ({ coordination } = opened);
  });
  afterEach(() => opened.close());

  describe(`turn gate: ${engine}`, () => {
    /** Enters as `name`, and notes what comes of it. */
    function follow() {
      const events: string[] = [];
      const tickets = new Map<string, TurnTicket>();
      function enter(name: string, { queueKey = "k" as string | null, perDay = 100, signal = stays } = {}): void {
        coordination.turns.enter(turnEntry({ queueKey, messagesPerDay: perDay }), signal).then(
          (verdict) => {
            events.push(verdict.isAdmitted ? name : `${name} ${verdict.reason}`);
            if (verdict.isAdmitted) tickets.set(name, verdict);
          },
          (error: Error) => events.push(`${name} ${error.message}`),
        );
      }
      async function expectEvents(...expected: string[]): Promise<void> {
        await eventually(() => events.length >= expected.length);
        await turnsOfTheLoop(5);
        expect(events).toEqual(expected);
      }
      return { enter, leave: (name: string) => tickets.get(name)?.leave(), tickets, expectEvents };
    }

    async function take(queueKey: string | null = null, perDay = 100): Promise<TurnTicket> {
      const verdict = await coordination.turns.enter(turnEntry({ queueKey, messagesPerDay: perDay }), stays);
      if (!verdict.isAdmitted) throw new Error(verdict.reason);
      return verdict;
    }

    test("lets the turns of one conversation in one after the other, in the order of their calls", async () => {
      const { enter, leave, expectEvents } = follow();
      for (const name of ["a", "b", "c"]) enter(name);
      await expectEvents("a");
      expect(coordination.turns.waitingCount).toBe(2);
      leave("a");
      await expectEvents("a", "b");
      leave("b");
      await expectEvents("a", "b", "c");
      expect(coordination.turns.waitingCount).toBe(0);
    });

    test("keeps conversations apart, and lets what belongs to none in at once", async () => {
      const { enter, expectEvents } = follow();
      enter("a", { queueKey: "one" });
      await expectEvents("a");
      enter("b", { queueKey: "other" });
      await expectEvents("a", "b");
      enter("c", { queueKey: null });
      await expectEvents("a", "b", "c");
      enter("d", { queueKey: null });
      await expectEvents("a", "b", "c", "d");
    });

    test("refuses one too many at once, whatever is left of the day, and takes one again when a place is free", async () => {
      const { enter, leave, expectEvents } = follow();
      const waiting = Array.from({ length: maxWaitingTurns }, (_, at) => `w${at}`);
      for (const name of ["in", ...waiting]) enter(name);
      await expectEvents("in");
      enter("many", { perDay: 0 });
      await expectEvents("in", "many queue_full");
      leave("in");
      await expectEvents("in", "many queue_full", "w0");
      enter("again");
      enter("too many");
      await expectEvents("in", "many queue_full", "w0", "too many queue_full");
    });

    test("refuses a turn for which nothing is left of the day when it comes, and lets the next one in", async () => {
      const { enter, leave, tickets, expectEvents } = follow();
      for (const name of ["a", "b", "c"]) enter(name, { perDay: 1 });
      await expectEvents("a");
      await opened.keep("message", "c", "2026-01-15");
      tickets.get("a")?.settle();
      leave("a");
      await expectEvents("a", "b day_used_up", "c day_used_up");
      enter("d", { perDay: 2 });
      await expectEvents("a", "b day_used_up", "c day_used_up", "d");
    });

    test("drops a waiting turn whose signal fires, at no cost, and those behind it move up", async () => {
      const { enter, leave, expectEvents } = follow();
      const leaving = new AbortController();
      enter("a", { perDay: 2 });
      enter("b", { perDay: 2, signal: leaving.signal });
      enter("c", { perDay: 2 });
      await expectEvents("a");
      leaving.abort(new Error("gone"));
      await expectEvents("a", "b gone");
      enter("d", { perDay: 2, signal: leaving.signal });
      await expectEvents("a", "b gone", "d gone");
      expect(coordination.turns.waitingCount).toBe(1);
      leave("a");
      await expectEvents("a", "b gone", "d gone", "c");
      // One of two is taken: neither b nor d took any.
      enter("e", { queueKey: "other", perDay: 2 });
      await expectEvents("a", "b gone", "d gone", "c", "e");
    });

    test("changes nothing for a turn that is in when its signal fires", async () => {
      const { enter, leave, expectEvents } = follow();
      const leaving = new AbortController();
      enter("a", { signal: leaving.signal });
      await expectEvents("a");
      enter("b");
      leaving.abort(new Error("gone"));
      await expectEvents("a");
      leave("a");
      await expectEvents("a", "b");
    });

    test("lets one in for each that leaves, however often it says so", async () => {
      const { enter, leave, expectEvents } = follow();
      for (const name of ["a", "b", "c"]) enter(name);
      await expectEvents("a");
      for (let i = 0; i < 3; i++) leave("a");
      await expectEvents("a", "b");
    });

    test("keeps the place of a turn that is settled until it leaves", async () => {
      const { enter, leave, tickets, expectEvents } = follow();
      enter("a");
      enter("b");
      await expectEvents("a");
      tickets.get("a")?.settle();
      await expectEvents("a");
      leave("a");
      await expectEvents("a", "b");
    });

    test("gives the message of a turn back that leaves unsettled, once, and keeps that of a settled one", async () => {
      const first = await take("k", 2);
      const second = await take("l", 2);
      await expect(take("m", 2)).rejects.toThrow("day_used_up");
      for (let i = 0; i < 3; i++) first.leave();
      await opened.keep("message", "c", second.day);
      second.settle();
      second.leave();
      second.leave();
      await take("m", 2);
      await expect(take("n", 2)).rejects.toThrow("day_used_up");
    });

    test("counts a turn under the day on which it came in, and says how long a used up one lasts", async () => {
      clock.step(12 * 60 * minuteMs - 1);
      const late = await take(null, 1);
      expect(late.day).toBe("2026-01-15");
      const verdict = await coordination.turns.enter(turnEntry({ messagesPerDay: 1 }), stays);
      expect(verdict).toEqual({ isAdmitted: false, reason: "day_used_up", retryAfterSeconds: 1 });
      clock.step(1);
      expect((await take(null, 1)).day).toBe("2026-01-16");
      late.leave();
      await expect(take(null, 1)).rejects.toThrow("day_used_up");
    });

    test("never has two turns in a conversation, nor more than the limit, whatever comes, leaves and is settled", async () => {
      const random = createRandom(11);
      const perDay = 60;
      let inside = new Set<string>();
      let [taken, settled] = [0, 0];
      let problems = 0;
      const turns = Array.from({ length: 300 }, async () => {
        const queueKey = random.pick(["a", "b", "c", "d"]);
        const leaving = new AbortController();
        const isImpatient = random.below(5) === 0;
        const entering = coordination.turns.enter(turnEntry({ queueKey, messagesPerDay: perDay }), leaving.signal);
        if (isImpatient) setImmediate(() => leaving.abort(new Error("gone")));
        const verdict = await entering.catch(() => null);
        if (verdict === null || !verdict.isAdmitted) return;
        if (inside.has(queueKey) || ++taken > perDay) problems++;
        inside = new Set([...inside, queueKey]);
        await turnsOfTheLoop(random.below(3));
        inside.delete(queueKey);
        if (random.below(2) === 0) {
          await opened.keep("message", "c", verdict.day);
          verdict.settle();
          settled++;
        } else taken--;
        verdict.leave();
      });
      await Promise.all(turns);
      expect(problems).toBe(0);
      expect(coordination.turns.waitingCount).toBe(0);
      for (let left = perDay - settled; left > 0; left--) await take(null, perDay);
      await expect(take(null, perDay)).rejects.toThrow("day_used_up");
    });
  });

  describe(`visitors with a day of their own: ${engine}`, () => {
    const enter = (visitorId: string, { ofVisitor = 2, perDay = 100, companionId = "c" } = {}) => {
      const visitor = { id: visitorId, messagesPerDay: ofVisitor };
      return coordination.turns.enter(turnEntry({ companionId, messagesPerDay: perDay, visitor }), stays);
    };

    async function take(visitorId: string, limits = {}): Promise<TurnTicket> {
      const verdict = await enter(visitorId, limits);
      if (!verdict.isAdmitted) throw new Error(verdict.reason);
      return verdict;
    }

    test("are let in exactly as often as is left of it, however many come at once, and go on from what is durable", async () => {
      for (let i = 0; i < 3; i++) await opened.keepOwn("c", "v", "2026-01-15");
      const verdicts = await Promise.all(Array.from({ length: 60 }, () => enter("v", { ofVisitor: 5 })));
      expect(verdicts.filter(({ isAdmitted }) => isAdmitted)).toHaveLength(2);
      for (const verdict of verdicts) {
        if (!verdict.isAdmitted) expect(verdict.reason).toBe("visitor_day_used_up");
      }
      // Those who were refused took nothing of the companion's.
      for (let left = 3; left > 0; left--) await take(`other-${left}`, { perDay: 5 });
      await expect(take("another", { perDay: 5 })).rejects.toThrow(/^day_used_up$/);
    });

    test("get back what is not settled, of both days, and keep what is", async () => {
      const [first, second] = [await take("v", { perDay: 2 }), await take("v", { perDay: 2 })];
      await expect(take("v", { perDay: 9 })).rejects.toThrow("visitor_day_used_up");
      for (let i = 0; i < 3; i++) first.leave();
      await opened.keep("message", "c", second.day);
      await opened.keepOwn("c", "v", second.day);
      second.settle();
      second.leave();
      await take("v", { perDay: 2 });
      await expect(take("v", { perDay: 9 })).rejects.toThrow("visitor_day_used_up");
      await expect(take("w", { perDay: 2 })).rejects.toThrow(/^day_used_up$/);
    });

    test("take nothing of their own where the companion's is used up", async () => {
      await take("w", { perDay: 1 });
      await expect(take("v", { ofVisitor: 1, perDay: 1 })).rejects.toThrow(/^day_used_up$/);
      await take("v", { ofVisitor: 1, perDay: 2 });
    });

    test("are counted apart from one another, with each companion, and anew on the next day", async () => {
      clock.step(12 * 60 * minuteMs - 1);
      for (const [visitorId, companionId] of [
        ["v", "c"],
        ["w", "c"],
        ["v", "d"],
      ] as const) {
        await take(visitorId, { companionId, ofVisitor: 1 });
        await expect(take(visitorId, { companionId, ofVisitor: 1 })).rejects.toThrow("visitor_day_used_up");
      }
      expect(await enter("v", { ofVisitor: 1 })).toEqual({
        isAdmitted: false,
        reason: "visitor_day_used_up",
        retryAfterSeconds: 1,
      });
      clock.step(1);
      expect((await take("v", { ofVisitor: 1 })).day).toBe("2026-01-16");
    });

    test("who wait in a conversation are asked for theirs when it is their turn", async () => {
      const visitor = { id: "v", messagesPerDay: 1 };
      const first = await coordination.turns.enter(turnEntry({ queueKey: "k", visitor }), stays);
      const second = coordination.turns.enter(turnEntry({ queueKey: "k", visitor }), stays);
      const third = coordination.turns.enter(turnEntry({ queueKey: "k" }), stays);
      if (!first.isAdmitted) throw new Error(first.reason);
      await opened.keepOwn("c", "v", first.day);
      first.settle();
      first.leave();
      expect(await second).toMatchObject({ isAdmitted: false, reason: "visitor_day_used_up" });
      expect(await third).toMatchObject({ isAdmitted: true });
    });
  });

  describe(`turns that take nothing of the day: ${engine}`, () => {
    const uncounted = turnEntry({ queueKey: "k", messagesPerDay: null, messageId: "m" });

    test("come in when it is used up, wait for their turn, and leave no trace in it", async () => {
      await coordination.turns.enter(turnEntry({ messagesPerDay: 1 }), stays);
      const first = await coordination.turns.enter(uncounted, stays);
      const second = coordination.turns.enter({ ...uncounted, messageId: "n" }, stays);
      if (!first.isAdmitted) throw new Error(first.reason);
      expect(first.day).toBe("2026-01-15");
      expect(coordination.turns.waitingCount).toBe(1);
      first.settle();
      first.leave();
      expect(await second).toMatchObject({ isAdmitted: true });
      expect((await coordination.turns.enter(turnEntry({ messagesPerDay: 2 }), stays)).isAdmitted).toBe(true);
      expect((await coordination.turns.enter(turnEntry({ messagesPerDay: 2 }), stays)).isAdmitted).toBe(false);
    });
  });

  test(`${engine}: a turn of this instance is found at no other`, async () => {
    const { turns } = coordination;
    expect(await turns.findElsewhere("k", "m")).toBeNull();
    const verdict = await turns.enter(turnEntry({ queueKey: "k", messageId: "m" }), stays);
    expect(await turns.findElsewhere("k", "m")).toBeNull();
    if (verdict.isAdmitted) verdict.leave();
    expect(await turns.findElsewhere("k", "m")).toBeNull();
  });

  describe(`daily quota: ${engine}`, () => {
    const reserve = (companionId: string, limit: number) => coordination.voiceSessions.reserve(companionId, limit);

    function admitted(verdicts: readonly (Reservation | QuotaRefusal)[]): Reservation[] {
      return verdicts.filter((verdict) => verdict.isAdmitted);
    }

    test("admits exactly as many of 200 at once as are left, and goes on from what is durable", async () => {
      for (let i = 0; i < 3; i++) await opened.keep("voice_session", "c", "2026-01-15");
      const verdicts = await Promise.all(Array.from({ length: 200 }, () => reserve("c", 5)));
      expect(admitted(verdicts)).toHaveLength(2);
    });

    test("gives back what is released, keeps what is settled, and counts companions and days apart", async () => {
      const [first, second] = admitted([await reserve("c", 2), await reserve("c", 2)]);
      expect((await reserve("c", 2)).isAdmitted).toBe(false);
      expect((await reserve("d", 2)).isAdmitted).toBe(true);
      for (let i = 0; i < 3; i++) first?.release();
      await opened.keep("voice_session", "c", "2026-01-15");
      second?.settle();
      second?.release();
      expect((await reserve("c", 2)).isAdmitted).toBe(true);
      expect((await reserve("c", 2)).isAdmitted).toBe(false);
      clock.advance(24 * 60 * minuteMs);
      expect((await reserve("c", 2)).isAdmitted).toBe(true);
    });

    test("counts voice sessions and messages apart", async () => {
      expect((await reserve("c", 1)).isAdmitted).toBe(true);
      const entry = turnEntry({ messagesPerDay: 1 });
      expect((await coordination.turns.enter(entry, stays)).isAdmitted).toBe(true);
      expect((await reserve("c", 1)).isAdmitted).toBe(false);
    });
  });

  test(`${engine}: an arrival is marked at once`, () => {
    const { arrivals } = coordination;
    expect(arrivals.mark()).toBe(arrivals.mark());
  });
}
