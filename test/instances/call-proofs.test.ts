/** Only who has the secret key is taken for an instance, once, in time, and for the request that the proof is for. */
import { beforeEach, expect, test } from "bun:test";
import { type CallProofs, createCallProofs } from "../../src/core/instances/call-proofs.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { createSealing } from "../../src/lib/sealing.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const url = "http://10.0.0.2:3000/internal/replies";
let clock: ManualClock;
let here: CallProofs;
let there: CallProofs;

async function openProofs(keyByte = 1): Promise<CallProofs> {
  const sealing = await createSealing(new Uint8Array(32).fill(keyByte));
  return createCallProofs({ sealing, clock, ids: systemIds });
}

beforeEach(async () => {
  clock = createManualClock();
  [here, there] = [await openProofs(), await openProofs()];
});

const make = () => here.make("POST", url, "{}");

test("takes a proof of the same key once, and both sides know the key of its answer", async () => {
  const proof = await make();
  expect(await there.check("POST", url, proof)).toEqual({
    bodyHash: sha256Hex("{}"),
    answerKey: await here.makeAnswerKey(proof),
  });
  expect(await there.check("POST", url, proof)).toBeNull();
  expect(await there.check("POST", url, await make())).not.toBeNull();
});

test("no two answers have the same key, and no proof tells it", async () => {
  const [one, other] = [await make(), await make()];
  expect(await here.makeAnswerKey(one)).not.toBe(await here.makeAnswerKey(other));
  expect(one).not.toContain(await here.makeAnswerKey(one));
});

test("takes none of another key, or for another method or address", async () => {
  expect(await (await openProofs(2)).check("POST", url, await make())).toBeNull();
  expect(await there.check("GET", url, await make())).toBeNull();
  expect(await there.check("POST", url.replace("10.0.0.2", "10.0.0.3"), await make())).toBeNull();
});

test("takes none that was changed anywhere", async () => {
  const proof = await make();
  for (let at = 0; at < proof.length; at++) {
    const changed = proof.slice(0, at) + (proof[at] === "1" ? "2" : "1") + proof.slice(at + 1);
    expect(await there.check("POST", url, changed)).toBeNull();
  }
  for (const other of ["", proof.slice(0, -1), `${proof}A`, ` ${proof}`, "1.2.3.4"]) {
    expect(await there.check("POST", url, other)).toBeNull();
  }
  expect(await there.check("POST", url, proof)).not.toBeNull();
});

test.each([
  [0, true],
  [30_000, true],
  [30_001, false],
  [-30_000, true],
  [-30_001, false],
])("where the clock says %d ms later, a proof is taken: %p", async (laterMs, isTaken) => {
  const proof = await make();
  clock.advance(laterMs);
  expect((await there.check("POST", url, proof)) !== null).toBe(isTaken);
});

test("a proof that is ahead of the clock is taken once, however long it stays good", async () => {
  clock.advance(30_000);
  const proof = await make();
  clock.advance(-30_000);
  expect(await there.check("POST", url, proof)).not.toBeNull();
  for (let step = 0; step < 6; step++) {
    clock.advance(10_000);
    // Others come in between.
    expect(await there.check("POST", url, await make())).not.toBeNull();
    expect(await there.check("POST", url, proof)).toBeNull();
  }
});
