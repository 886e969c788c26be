/** What a call of the store is counted as. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import { measureCoordination, measureStore } from "../../src/core/metrics/measured-sockets.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { storeCalls } from "../../src/core/metrics/store-calls.ts";
import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import type { Histogram } from "../../src/lib/histogram.ts";
import { testContext } from "../support/app.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";
import { countNothing, turnEntry } from "../support/turn-entry.ts";

let opened: Awaited<ReturnType<typeof openTemporaryStore>>;
let measurements: Measurements;
let store: Store;
beforeAll(async () => {
  opened = await openTemporaryStore();
});
beforeEach(() => {
  measurements = new Measurements();
  store = measureStore(opened.store, measurements);
});
afterAll(() => opened.close());

const total = ({ counts }: Histogram) => counts.reduce((sum, count) => sum + count, 0);
const counted = () => ({ reads: total(measurements.storeReadSeconds), writes: total(measurements.storeWriteSeconds) });

test("questions are reads, whatever they are called", async () => {
  await store.accounts.hasAnyPassword();
  await store.voice.canUseAgent("account-1", "agent-1");
  expect(counted()).toEqual({ reads: 2, writes: 0 });
});

test("a change is one write", async () => {
  const account = { id: crypto.randomUUID(), email: "a@example.com", plan: "free", role: "owner" } as const;
  await store.accounts.create({ ...account, passwordHash: null }, testContext());
  expect(counted()).toEqual({ reads: 0, writes: 1 });
});

test("every member of every noun is declared, and nothing else", () => {
  for (const [noun, calls] of Object.entries(storeCalls)) {
    const members = Object.keys(opened.store[noun as keyof typeof storeCalls]).toSorted();
    expect([noun, Object.keys(calls).toSorted()]).toEqual([noun, members]);
    expect(Object.keys(store[noun as keyof typeof storeCalls]).toSorted()).toEqual(members);
  }
  const own = ["check", "close"];
  const nouns = Object.keys(opened.store).filter((name) => !own.includes(name));
  expect(Object.keys(storeCalls).toSorted()).toEqual(nouns.toSorted());
});

test("a turn is a verdict of the daily quota if it asks for one of the day, its visitor's included", async () => {
  const coordination = createMemoryCoordination({ clock: createManualClock(), ...countNothing });
  const { turns } = measureCoordination(coordination, measurements);
  const stays = new AbortController().signal;
  const visitor = { id: "v", messagesPerDay: 1 };
  for (const entry of [
    turnEntry({ messagesPerDay: 2, visitor }),
    turnEntry({ messagesPerDay: 2, visitor }),
    turnEntry({ messagesPerDay: 2 }),
    turnEntry({ messagesPerDay: 2 }),
    turnEntry({ messagesPerDay: null }),
  ]) {
    await turns.enter(entry, stays);
  }
  expect(measurements.verdicts.daily).toEqual({ admitted: 2, refused: 2 });
  expect(await turns.findElsewhere("k", "m")).toBeNull();
});
