/** The coordination engine of one process, and what it does where the store cannot be asked. */
import { expect, test } from "bun:test";
import { createMemoryCoordination } from "../../src/engines/memory/coordination/memory.ts";
import { createSignInFailures } from "../../src/engines/memory/coordination/sign-in-failures.ts";
import { testCoordinationContract } from "../contracts/coordination.ts";
import { testSignInFailuresContract } from "../contracts/sign-in-failures.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { countNothing, turnEntry } from "../support/turn-entry.ts";

testCoordinationContract("memory", async (clock) => {
  const durable = new Map<string, number>();
  const countOf = (kind: string) => async (companionId: string, day: string) => {
    return durable.get(`${kind} ${companionId} ${day}`) ?? 0;
  };
  const keep = async (kind: string, name: string, day: string) => {
    const key = `${kind} ${name} ${day}`;
    durable.set(key, (durable.get(key) ?? 0) + 1);
  };
  return {
    coordination: createMemoryCoordination({
      clock,
      countMessages: countOf("message"),
      countVisitorMessages: (companionId, visitorId, day) => countOf("own")(`${companionId} ${visitorId}`, day),
      countVoiceSessions: countOf("voice_session"),
    }),
    keep,
    keepOwn: (companionId, visitorId, day) => keep("own", `${companionId} ${visitorId}`, day),
    async close() {},
  };
});

testSignInFailuresContract("memory", createSignInFailures);

test("a turn whose day cannot be counted is unavailable, holds nothing, and the next one comes in", async () => {
  let isBroken = true;
  const countMessages = async () => {
    if (isBroken) throw new Error("disk I/O error");
    return 0;
  };
  const { turns } = createMemoryCoordination({
    clock: createManualClock(),
    ...countNothing,
    countMessages,
  });
  const entry = turnEntry({ queueKey: "k", messagesPerDay: 1 });
  const stays = new AbortController().signal;
  await expect(turns.enter(entry, stays)).rejects.toMatchObject({ code: "unavailable" });
  isBroken = false;
  expect(await turns.enter(entry, stays)).toMatchObject({ isAdmitted: true });
});

test("a turn whose visitor's day cannot be counted gives the companion's message back", async () => {
  let isBroken = true;
  const countVisitorMessages = async () => {
    if (isBroken) throw new Error("disk I/O error");
    return 0;
  };
  const { turns } = createMemoryCoordination({ clock: createManualClock(), ...countNothing, countVisitorMessages });
  const entry = turnEntry({ queueKey: "k", messagesPerDay: 1, visitor: { id: "v", messagesPerDay: 1 } });
  const stays = new AbortController().signal;
  await expect(turns.enter(entry, stays)).rejects.toMatchObject({ code: "unavailable" });
  isBroken = false;
  expect(await turns.enter(entry, stays)).toMatchObject({ isAdmitted: true });
});

test("a visitor who leaves while the day is counted takes none of it, and gives the place up", async () => {
  const counting = Promise.withResolvers<number>();
  const countMessages = () => counting.promise;
  const { turns } = createMemoryCoordination({
    clock: createManualClock(),
    ...countNothing,
    countMessages,
  });
  const entry = turnEntry({ queueKey: "k", messagesPerDay: 1 });
  const leaving = new AbortController();
  const left = turns.enter(entry, leaving.signal);
  const next = turns.enter(entry, new AbortController().signal);
  await Promise.resolve();
  leaving.abort(new Error("gone"));
  counting.resolve(0);
  await expect(left).rejects.toThrow("gone");
  expect(await next).toMatchObject({ isAdmitted: true });
});
