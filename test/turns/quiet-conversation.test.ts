/** Holds how long something waits for the turns of its conversation, and what it is told then. */
import { expect, test } from "bun:test";
import { queueKeyOf } from "../../src/core/turns/conversation-storage.ts";
import { whileQuiet } from "../../src/core/turns/quiet-conversation.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import { systemClock } from "../../src/lib/clock.ts";

const key = { companionId: "companion", sessionId: "session", visitorId: null };
const nobodyLeaves = new AbortController().signal;

function openCoordination() {
  const coordination = createMemoryCoordination({
    clock: systemClock,
    arrivals: createErasureMarks(),
    countMessages: async () => 0,
    countVisitorMessages: async () => 0,
    countVoiceSessions: async () => 0,
  });
  const entry = { companionId: key.companionId, queueKey: queueKeyOf(key), messagesPerDay: 10 };
  return {
    coordination,
    enter: () => coordination.turns.enter({ ...entry, visitor: null, messageId: null }, nobodyLeaves),
  };
}

test("does its work at once where nothing runs, and leaves the place, also after a failure", async () => {
  const { coordination } = openCoordination();
  expect(await whileQuiet({ coordination }, key, nobodyLeaves, async () => "done")).toBe("done");
  const failing = whileQuiet({ coordination }, key, nobodyLeaves, async () => Promise.reject(new Error("not now")));
  await expect(failing).rejects.toThrow("not now");
  expect(await whileQuiet({ coordination }, key, nobodyLeaves, async () => "done")).toBe("done");
});

test("gives up when a turn takes too long, or the caller leaves, and does nothing then", async () => {
  const { coordination, enter } = openCoordination();
  await enter();
  let isDone = false;
  const work = async () => {
    isDone = true;
  };
  const refusal = { code: "unavailable", retryAfterSeconds: 5 };
  await expect(whileQuiet({ coordination }, key, nobodyLeaves, work, 1)).rejects.toMatchObject(refusal);
  await expect(whileQuiet({ coordination }, key, AbortSignal.abort(), work)).rejects.toMatchObject(refusal);
  expect([isDone, coordination.turns.waitingCount]).toEqual([false, 0]);
});

test("is refused where as many turns wait as may", async () => {
  const { coordination, enter } = openCoordination();
  await enter();
  for (let waiting = 0; waiting < 3; waiting++) void enter();
  const refused = whileQuiet({ coordination }, key, nobodyLeaves, async () => {});
  await expect(refused).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 5 });
});
