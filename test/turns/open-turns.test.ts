/** What the look at all turns under way costs: a question each when something has changed, and nothing else. */
import { expect, test } from "bun:test";
import { createOpenTurns, type OpenTurn } from "../../src/core/turns/open-turns.ts";
import { eventually } from "../support/eventually.ts";

function createWorld() {
  const world = { mark: 1 as number | Error, marksAsked: 0, checks: 0, isRightful: true, beforeAnswer: async () => {} };
  const turns = createOpenTurns({
    perAddress: 1_000,
    lookEveryMs: 1,
    async getChangeMark() {
      world.marksAsked++;
      if (world.mark instanceof Error) throw world.mark;
      return world.mark;
    },
  });
  const open = (address: string | null = null) => {
    const turn: OpenTurn & { isStopped: boolean; leave(): void } = {
      checkedMark: -1,
      isStopped: false,
      ended: Promise.resolve(),
      async checkRight() {
        world.checks++;
        await world.beforeAnswer();
        turn.isStopped = !world.isRightful;
        return world.isRightful;
      },
      leave: () => turns.leave(turn, address),
    };
    turns.enter(turn, address);
    return turn;
  };
  const looks = async (count: number) => {
    const until = world.marksAsked + count;
    await eventually(() => world.marksAsked >= until);
  };
  return { world, turns, open, looks };
}

test("each turn is checked once, and again only when something has changed", async () => {
  const { world, turns, open, looks } = createWorld();
  const opened = Array.from({ length: 250 }, () => open());
  await eventually(() => world.checks === 250);
  await looks(5);
  expect(world.checks).toBe(250);
  world.mark = 2;
  await eventually(() => world.checks === 500);
  await looks(5);
  expect(world.checks).toBe(500);
  for (const turn of opened) turn.leave();
  expect(turns.size).toBe(0);
});

test("turns are checked beside each other, so that a store can answer all of them at once", async () => {
  const { world, open } = createWorld();
  const everyone = Promise.withResolvers<void>();
  world.beforeAnswer = () => everyone.promise;
  const opened = Array.from({ length: 100 }, () => open());
  await eventually(() => world.checks === 100);
  everyone.resolve();
  await eventually(() => opened.every((turn) => turn.checkedMark === 1));
  expect(world.checks).toBe(100);
  for (const turn of opened) turn.leave();
});

test("a check that fails is made again at the next look, and those beside it count", async () => {
  const { world, open, looks } = createWorld();
  world.beforeAnswer = async () => {
    if (world.checks === 2) throw new Error("locked");
  };
  const opened = [open(), open(), open()];
  await eventually(() => opened.every((turn) => turn.checkedMark === 1));
  await looks(3);
  expect(world.checks).toBe(4);
  for (const turn of opened) turn.leave();
});

test("nothing is asked while no turn is under way", async () => {
  const { world, open, looks } = createWorld();
  const turn = open();
  await looks(1);
  turn.leave();
  const asked = world.marksAsked;
  const other = createWorld();
  const busy = other.open();
  await other.looks(5);
  busy.leave();
  expect(world.marksAsked).toBe(asked);
});

test("those that have lost their right are asked once, and a store that cannot be asked ends none", async () => {
  const { world, open, looks } = createWorld();
  const turn = open();
  world.mark = new Error("locked");
  world.isRightful = false;
  await looks(3);
  expect(turn.isStopped).toBe(false);
  world.mark = 2;
  await eventually(() => turn.isStopped);
  await looks(3);
  expect(world.checks).toBe(1);
  turn.leave();
});

test("an address has its place back with each turn that leaves", () => {
  const { turns, open } = createWorld();
  const opened = [open("192.0.2.1"), open("192.0.2.1"), open("192.0.2.2"), open()];
  expect([turns.size, turns.addressCount]).toEqual([4, 2]);
  for (const turn of opened) turn.leave();
  expect([turns.size, turns.addressCount]).toEqual([0, 0]);
});
