/** What the look at all replies under way costs: a question each when something has changed, and nothing else. */
import { expect, test } from "bun:test";
import { AppError } from "../../src/domain/errors.ts";
import { createOpenReplies } from "../../src/turns/open-replies.ts";
import { eventually } from "../support/eventually.ts";

const refusal = () => new AppError("not_found", "There is no such companion.");

function createWorld() {
  const world = { mark: 1 as number | Error, marksAsked: 0, checks: 0, isRightful: true };
  const replies = createOpenReplies({
    perAddress: 1_000,
    lookEveryMs: 1,
    async getChangeMark() {
      world.marksAsked++;
      if (world.mark instanceof Error) throw world.mark;
      return world.mark;
    },
  });
  const right = {
    async check() {
      world.checks++;
      return world.isRightful;
    },
    refusal,
  };
  const open = () => replies.open({ visitor: new AbortController().signal, address: null, right });
  const looks = async (count: number) => {
    const until = world.marksAsked + count;
    await eventually(() => world.marksAsked >= until);
  };
  return { world, replies, open, looks };
}

test("each reply is asked for once, and again only when something has changed", async () => {
  const { world, replies, open, looks } = createWorld();
  const opened = Array.from({ length: 250 }, open);
  await eventually(() => world.checks === 250);
  await looks(5);
  expect(world.checks).toBe(250);
  world.mark = 2;
  await eventually(() => world.checks === 500);
  await looks(5);
  expect(world.checks).toBe(500);
  for (const reply of opened) reply.close();
  expect(replies.size).toBe(0);
});

test("nothing is asked while no reply is under way", async () => {
  const { world, open, looks } = createWorld();
  const reply = open();
  await looks(1);
  reply.close();
  const asked = world.marksAsked;
  const other = createWorld();
  const busy = other.open();
  await other.looks(5);
  busy.close();
  expect(world.marksAsked).toBe(asked);
});

test("those that have lost their right end once, and a store that cannot be asked ends none", async () => {
  const { world, open, looks } = createWorld();
  const reply = open();
  world.mark = new Error("locked");
  world.isRightful = false;
  await looks(3);
  expect(reply.ending).toBeNull();
  world.mark = 2;
  await eventually(() => reply.signal.aborted);
  expect(reply.ending).toMatchObject({ code: "unavailable", error: { code: "not_found" } });
  reply.end("too_long", refusal());
  expect(reply.ending?.code).toBe("unavailable");
  reply.close();
});

test("a visitor who has gone is no ending of ours, and what was taken is given back once, in the reverse order", () => {
  const { replies } = createWorld();
  const visitor = new AbortController();
  const right = { check: async () => true, refusal };
  const reply = replies.open({ visitor: visitor.signal, address: "192.0.2.1", right });
  const given: string[] = [];
  reply.owes(() => given.push("place"));
  reply.owes(() => given.push("message"));
  visitor.abort(new Error("gone"));
  expect(reply.signal.reason).toEqual(new Error("gone"));
  expect(reply.ending).toBeNull();
  reply.close();
  reply.close();
  expect(given).toEqual(["message", "place"]);
  expect([replies.size, replies.addressCount]).toEqual([0, 0]);
});
