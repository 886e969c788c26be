/** How attempts on an account follow one another, in time that passes as the test tells it to. */
import { beforeEach, expect, test } from "bun:test";
import { type Attempts, type Client, createAttempts, type Verdict } from "../../src/core/sign-in/attempts.ts";
import { createSignInFailures } from "../../src/engines/memory/coordination/sign-in-failures.ts";
import { createVirtualTime, type VirtualTime } from "../support/virtual-time.ts";

const email = "owner@example.com";
const minuteMs = 60_000;

let time: VirtualTime;
let attempts: Attempts;
/** When something was compared, in order. */
let comparedAtMs: number[];
beforeEach(() => {
  time = createVirtualTime();
  attempts = createAttempts({ ...time, failures: createSignInFailures(time.clock) });
  comparedAtMs = [];
});

const stranger = (number: number): Client => ({ subject: `198.51.100.${number}`, isFamiliar: false });
const ownBrowser: Client = { subject: "device of the owner", isFamiliar: true };

function tryAs(client: Client, verdict: Verdict, comparisonMs = 0): Promise<string> {
  const attempt = attempts.run(client, email, async () => {
    comparedAtMs.push(time.clock.monotonicMs());
    if (comparisonMs > 0) await new Promise<void>((resolve) => void time.after(comparisonMs, resolve));
    return { verdict, value: "answered" };
  });
  return attempt.catch((error: Error) => error.message);
}

/** The most of them that any second holds. */
function maxPerSecond(instants: readonly number[]): number {
  return Math.max(...instants.map((from) => instants.filter((at) => at >= from && at < from + 1000).length));
}

test("of 330 clients that never rest, fewer than six a second are compared on one account", async () => {
  for (let round = 0; round < 600; round++) {
    for (let client = 0; client < 330; client += 1 + (round % 7)) void tryAs(stranger(client), "wrong", 25);
    await time.pass(100);
  }
  expect(comparedAtMs.length).toBeGreaterThan(15);
  expect(maxPerSecond(comparedAtMs)).toBeLessThan(6);
  // After ten failures strangers wait longer and longer.
  const lastMinute = comparedAtMs.filter((at) => at > time.clock.monotonicMs() - minuteMs / 2);
  expect(maxPerSecond(lastMinute)).toBe(1);
});

test("the owner's own browser is the next to have its turn, and leaves the account under six a second", async () => {
  for (let round = 0; round < 300; round++) {
    for (let client = 0; client < 330; client++) void tryAs(stranger(client), "wrong", 25);
    await time.pass(100);
  }
  for (let signIn = 0; signIn < 5; signIn++) {
    const before = comparedAtMs.length;
    const response = tryAs(ownBrowser, "right", 25);
    for (let client = 0; client < 330; client++) void tryAs(stranger(client), "wrong", 25);
    await time.pass(400);
    expect(await response).toBe("answered");
    // Of those who waited before it nobody else came in between, but whoever was in.
    expect(comparedAtMs.length - before).toBeLessThanOrEqual(2);
  }
  expect(maxPerSecond(comparedAtMs)).toBeLessThan(6);
});

test("so many browsers of the owner cannot come that guessing through them is faster", async () => {
  for (let round = 0; round < 100; round++) {
    for (let device = 0; device < 50; device++) void tryAs({ subject: `device ${device}`, isFamiliar: true }, "wrong");
    await time.pass(100);
  }
  expect(maxPerSecond(comparedAtMs)).toBeLessThan(6);
});

test("a stranger who finds too many waiting must come back later, which does not count as a failure", async () => {
  const responses = Array.from({ length: 6 }, (_, client) => tryAs(stranger(client), "wrong"));
  await time.pass(10_000);
  const texts = await Promise.all(responses);
  expect(texts.slice(0, 5)).toEqual(Array(5).fill("answered"));
  expect(texts[5]).toContain("Too many sign-ins to this account are running.");
  const again = tryAs(stranger(5), "right");
  await time.pass(1000);
  expect(await again).toBe("answered");
});

test("another account has nothing to do with it", async () => {
  for (let client = 0; client < 100; client++) void tryAs(stranger(client), "wrong", 25);
  const other = attempts.run(stranger(1), "other@example.com", async () => ({ verdict: "right", value: "in" }));
  await time.pass(0);
  expect(await other).toBe("in");
});

test("a refusal takes the same time whether or not anything was compared", async () => {
  const endedAfterMs: number[] = [];
  for (const comparisonMs of [0, 25, 120]) {
    const startMs = time.clock.monotonicMs();
    void tryAs(stranger(comparisonMs), "wrong", comparisonMs).then(() => {
      endedAfterMs.push(time.clock.monotonicMs() - startMs);
    });
    await time.pass(5000);
  }
  expect(endedAfterMs).toEqual([150, 150, 150]);
});

test("wrong codes on one account make strangers wait, wherever they come from, and not the owner's browser", async () => {
  const guess = (client: Client) =>
    attempts
      .run(client, email, async (attempt) => {
        const isRight = await attempt.guessCode(async () => client === ownBrowser);
        return { verdict: isRight ? "right" : "wrong", value: isRight ? "right" : "wrong" } as const;
      })
      .catch((error: Error) => error.message);
  for (let client = 0; client < 10; client++) {
    const response = guess(stranger(client));
    await time.pass(10_000);
    expect(await response).toBe("wrong");
  }
  for (let client = 10, waitMs = 1000; client < 20; client++) {
    time.clock.advance(Math.max(waitMs - 10_000, 0));
    const response = guess(stranger(client));
    await time.pass(10_000);
    expect(await response).toBe("wrong");
    waitMs = Math.min(waitMs * 2, 15 * minuteMs);
  }
  const stopped = guess(stranger(99));
  const owner = guess(ownBrowser);
  await time.pass(10_000);
  expect(await stopped).toContain("Too many wrong codes for this account.");
  expect(await owner).toBe("right");
});

test("what was neither right nor wrong prolongs no wait", async () => {
  for (let guess = 0; guess < 5; guess++) {
    void tryAs(stranger(1), "wrong");
    await time.pass(10_000);
  }
  const first = tryAs(stranger(1), "uncounted");
  await time.pass(500);
  const second = tryAs(stranger(1), "right");
  await time.pass(500);
  expect([await first, await second]).toEqual(["answered", "answered"]);
});

test("codes that could not be looked at are no wrong ones", async () => {
  const guess = (client: Client, isRight: () => Promise<boolean>) =>
    attempts
      .run(client, email, async ({ guessCode }) => ({ verdict: "right" as const, value: await guessCode(isRight) }))
      .catch((error: Error) => error.message);
  for (let count = 0; count < 12; count++) {
    const failed = guess(stranger(count), () => Promise.reject(new Error("the key is missing")));
    await time.pass(1000);
    expect(await failed).toBe("the key is missing");
  }
  const right = guess(stranger(100), async () => true);
  await time.pass(200);
  expect(await right).toBe(true);
});
