/** What a call of the store is counted as. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { Histogram } from "../../src/lib/histogram.ts";
import { measureStore } from "../../src/metrics/measured-sockets.ts";
import { Measurements } from "../../src/metrics/measurements.ts";
import { storeCalls } from "../../src/metrics/store-calls.ts";
import type { Store } from "../../src/store/store.ts";
import { testContext } from "../support/app.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";

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
