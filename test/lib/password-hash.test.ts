/** Passwords at rest, and the time that checking them takes. */
import { expect, spyOn, test } from "bun:test";
import { createGate, GateFull } from "../../src/lib/gate.ts";
import { hashPassword, verifyPassword } from "../../src/lib/password-hash.ts";

const costOf = (hash: string) => hash.split("$").slice(0, 4).join("$");

test("an account that does not exist costs the same computation as one that does", async () => {
  const hash = await hashPassword("the password");
  const verify = spyOn(Bun.password, "verify");
  try {
    expect(await verifyPassword("the password", hash)).toBe(true);
    expect(await verifyPassword("another one", hash)).toBe(false);
    expect(await verifyPassword("the password", null)).toBe(false);
    expect(verify.mock.calls.map(([, against]) => costOf(String(against)))).toEqual([
      costOf(hash),
      costOf(hash),
      costOf(hash),
    ]);
  } finally {
    verify.mockRestore();
  }
});

test("the gate lets a few run, keeps the others in order, and turns away what is too much", async () => {
  const gate = createGate({ concurrency: 2, maxWaiting: 2 });
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
  await expect(gate.run(async () => {})).rejects.toBeInstanceOf(GateFull);
  expect(order).toEqual(["a", "b"]);
  tasks[0]?.resolve();
  await tasks[2]?.started;
  expect(order).toEqual(["a", "b", "c"]);
  for (const { resolve } of tasks) resolve();
  await Promise.all(tasks.map(({ run }) => run));
  expect(order).toEqual(["a", "b", "c", "d"]);
});

test("a task that fails makes place for the next", async () => {
  const gate = createGate({ concurrency: 1, maxWaiting: 0 });
  await expect(gate.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate.run(async () => 7)).toBe(7);
});
