/** What lacks vectors gets them, whatever becomes of others: one account's trouble holds up nobody else. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createEmbeddingPass } from "../../../src/core/knowledge/indexing/embedding-pass.ts";
import type { Companion } from "../../../src/domain/companion.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { makeSource, publishNext } from "../../support/indexed-source.ts";
import { openTemporaryStore } from "../../support/sqlite-store.ts";
import { openWorld, type StoreWorld } from "../../support/store-world.ts";

let world: StoreWorld;
beforeEach(async () => {
  world = await openWorld(openTemporaryStore);
});
afterEach(() => world.close());

const signal = new AbortController().signal;
const minuteMs = 60_000;

/** A model that refuses some texts, for accounts of which some may not spend. */
function openPass({ isOurs = true } = {}) {
  const state = { nowMs: 0, isOurs, isAway: false, stopped: "", embedded: [] as string[], asked: 0 };
  const pass = createEmbeddingPass({
    store: world.store,
    embedder: {
      model: "embed-1",
      maxTexts: 8,
      async embed({ accountId }, texts) {
        if (accountId === state.stopped) return null;
        state.asked++;
        if (state.isAway || texts.includes("refused")) throw new Error("refused");
        if (!texts.includes("dimensions")) state.embedded.push(...texts);
        return texts.map(() => new Float32Array([1, 0]));
      },
    },
    isOurs: async () => state.isOurs,
    clock: { nowMs: () => state.nowMs },
    log: createCapturedLog(),
  });
  return { pass, state };
}

async function addText(companion: Companion, text: string): Promise<void> {
  await makeSource(world, companion);
  await publishNext(world, [text]);
}

const newCompanion = async () => world.createCompanion(await world.createAccount());

test("a passage that the model refuses, or an account that may not spend, holds up nobody else", async () => {
  const { pass, state } = openPass();
  const stopped = await newCompanion();
  const other = await newCompanion();
  state.stopped = stopped.accountId;
  await addText(stopped, "unpaid");
  await addText(other, "refused");
  await addText(other, "first");
  await pass.run(signal);
  expect(state.embedded).toEqual(["first"]);
  expect(pass.retryAtMs).toBe(minuteMs);
  // Neither is asked for again with what comes next, and that is not kept waiting.
  state.nowMs = minuteMs / 2;
  await addText(other, "second");
  const { asked } = state;
  await pass.run(signal);
  expect(state.embedded).toEqual(["first", "second"]);
  expect(state.asked).toBe(asked + 1);
  state.stopped = "";
  state.nowMs = 15 * minuteMs;
  await pass.run(signal);
  expect(state.embedded).toEqual(["first", "second", "unpaid"]);
});

test("a provider that is away is asked three times, then left alone for a minute; what is gone wakes nobody", async () => {
  const { pass, state } = openPass();
  const companion = await newCompanion();
  for (const text of ["one", "two", "three", "four"]) await addText(companion, text);
  state.isAway = true;
  await pass.run(signal);
  await pass.run(signal);
  expect(state.asked).toBe(3);
  expect(pass.restsUntilMs).toBe(minuteMs);
  state.isAway = false;
  state.nowMs = minuteMs;
  await pass.run(signal);
  expect(state.embedded).toEqual(["one", "two", "three", "four"]);
  expect(pass.retryAtMs).toBeNull();
  await addText(companion, "refused");
  await pass.run(signal);
  expect(pass.retryAtMs).not.toBeNull();
  await world.store.companions.delete(companion.accountId, companion.id, world.context());
  state.nowMs = pass.retryAtMs ?? 0;
  await pass.run(signal);
  expect(pass.retryAtMs).toBeNull();
});

test("only one of several servers embeds", async () => {
  const { pass, state } = openPass({ isOurs: false });
  await addText(await newCompanion(), "one");
  await pass.run(signal);
  expect(state.asked).toBe(0);
  expect(pass.retryAtMs).toBeNull();
  state.isOurs = true;
  await pass.run(signal);
  expect(state.embedded).toEqual(["one"]);
});
