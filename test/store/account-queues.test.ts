/** The queue of an account's changes in one server. */
import { expect, test } from "bun:test";
import { createAccountQueues } from "../../src/store/postgres/account-queues.ts";

test("who waits too long is unavailable, and those behind still wait for the one before", async () => {
  const inTurn = createAccountQueues();
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const ahead = inTurn("one", 60_000, async () => {
    await first.promise;
    order.push("first");
  });
  const late = inTurn("one", 1, async () => void order.push("late"));
  const behind = inTurn("one", 60_000, async () => void order.push("behind"));
  await expect(late).rejects.toMatchObject({ code: "unavailable" });
  await inTurn("other", 1, async () => void order.push("other"));
  expect(order).toEqual(["other"]);
  first.resolve();
  await Promise.all([ahead, behind]);
  expect(order).toEqual(["other", "first", "behind"]);
});

test("a change that fails lets the next one go", async () => {
  const inTurn = createAccountQueues();
  const failing = inTurn("one", 1_000, () => Promise.reject(new Error("full")));
  const next = inTurn("one", 1_000, async () => "done");
  await expect(failing).rejects.toThrow("full");
  expect(await next).toBe("done");
});
