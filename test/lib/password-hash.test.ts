/** Password hashing, and how long checks take. */
import { expect, spyOn, test } from "bun:test";
import { hashPassword, verifyPassword } from "../../src/lib/password-hash.ts";
import { createSemaphore, SemaphoreFull } from "../../src/lib/semaphore.ts";

const costOf = (hash: string) => hash.split("$").slice(0, 4).join("$");

test("an account that does not exist costs the same computation as one that does", async () => {
  const hash = await hashPassword("the password");
  expect(costOf(hash)).toBe("$argon2id$v=19$m=19456,t=2,p=1");
  const verify = spyOn(Bun.password, "verify");
  try {
    expect(await verifyPassword("the password", hash, "stranger")).toBe(true);
    expect(await verifyPassword("another one", hash, "stranger")).toBe(false);
    expect(await verifyPassword("the password", null, "stranger")).toBe(false);
    expect(verify.mock.calls.map(([, against]) => costOf(String(against)))).toEqual([
      costOf(hash),
      costOf(hash),
      costOf(hash),
    ]);
  } finally {
    verify.mockRestore();
  }
});

test("the semaphore lets a few run, keeps the others in order, and rejects the rest", async () => {
  const gate = createSemaphore({ concurrency: 2, maxWaiting: 2 });
  const order: string[] = [];
  const tasks = ["a", "b", "c", "d"].map((name) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const run = gate.run(async () => {
      order.push(name);
      started.resolve();
      await promise;
    });
    return { run, resolve, started: started.promise };
  });
  await expect(gate.run(async () => {})).rejects.toBeInstanceOf(SemaphoreFull);
  expect(order).toEqual(["a", "b"]);
  tasks[0]?.resolve();
  await tasks[2]?.started;
  expect(order).toEqual(["a", "b", "c"]);
  for (const { resolve } of tasks) resolve();
  await Promise.all(tasks.map(({ run }) => run));
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("a failing task frees its place for the next", async () => {
  const gate = createSemaphore({ concurrency: 1, maxWaiting: 0 });
  await expect(gate.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate.run(async () => 7)).toBe(7);
});

/** Computations that end on command. */
function holdComputations() {
  const held: (() => void)[] = [];
  const hashes: string[] = [];
  const verify = spyOn(Bun.password, "verify").mockImplementation((_password, hash) => {
    hashes.push(String(hash));
    return new Promise<boolean>((resolve) => void held.push(() => resolve(true)));
  });
  return {
    hashes,
    async end() {
      for (let turns = 0; turns < 1000; turns++) {
        for (const finish of held.splice(0)) finish();
        await Promise.resolve();
      }
      verify.mockRestore();
    },
  };
}

test("accounts that do not exist take no place from those that do: however many are asked for, two are computed", async () => {
  const { hashes, end } = holdComputations();
  const nobody = Array.from({ length: 500 }, () => verifyPassword("guess", null, "stranger"));
  const owner = verifyPassword("the password", "$argon2id$owner", "stranger");
  await Promise.resolve();
  expect(hashes).toContain("$argon2id$owner");
  await end();
  expect(await owner).toBe(true);
  expect(new Set(await Promise.all(nobody))).toEqual(new Set([false]));
  expect(hashes).toHaveLength(3);
});

test("an account that does not exist waits as long as one that does, and nobody waits for it", async () => {
  const gate = createSemaphore({ concurrency: 1, maxWaiting: 2 });
  const order: string[] = [];
  const held = Promise.withResolvers<void>();
  const note = (name: string) => async () => void order.push(name);
  const first = gate.run(() => held.promise.then(note("first")));
  const waits = [
    gate.run(note("second")),
    ...["along", "along too"].map((name) => gate.waitAlong().then(note(name))),
    gate.run(note("third")),
  ];
  await expect(gate.waitAlong()).rejects.toBeInstanceOf(SemaphoreFull);
  expect(order).toEqual([]);
  held.resolve();
  await Promise.all([first, ...waits]);
  expect(order.slice(0, 2)).toEqual(["first", "second"]);
  expect(order.toSorted()).toEqual(["along", "along too", "first", "second", "third"]);
  await gate.waitAlong();

  const { hashes, end } = holdComputations();
  const known = [1, 2].map(() => verifyPassword("guess", "$argon2id$known", "stranger"));
  const nobody = verifyPassword("guess", null, "stranger");
  for (let turns = 0; turns < 100; turns++) await Promise.resolve();
  expect(hashes).toEqual(["$argon2id$known"]);
  await end();
  expect(await nobody).toBe(false);
  await Promise.all(known);
  expect(hashes).toHaveLength(3);
});

test("a full lane of strangers is full for unknown accounts too, and does not affect the other lane", async () => {
  const { hashes, end } = holdComputations();
  const strangers = Array.from({ length: 65 }, () => verifyPassword("guess", "$argon2id$known", "stranger"));
  await expect(verifyPassword("guess", "$argon2id$known", "stranger")).rejects.toBeInstanceOf(SemaphoreFull);
  await expect(verifyPassword("guess", null, "stranger")).rejects.toBeInstanceOf(SemaphoreFull);
  const owner = verifyPassword("the password", "$argon2id$owner", "familiar");
  await Promise.resolve();
  expect(hashes).toContain("$argon2id$owner");
  await end();
  expect(await owner).toBe(true);
  await Promise.all(strangers);
});
