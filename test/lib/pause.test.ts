/** Long work in slices, and those who wait for their turn. */
import { expect, test } from "bun:test";
import { pause } from "../../src/lib/pause.ts";

test("of many that pause, one goes on in each turn of the event loop, in order", async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const wentOn: [one: number, turn: number][] = [];
  const work = async (one: number) => {
    for (let slice = 0; slice < 3; slice++) {
      await pause();
      wentOn.push([one, turn]);
    }
  };
  await Promise.all([1, 2, 3, 4].map(work));
  isOver = true;
  expect(wentOn.map(([one]) => one)).toEqual([1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]);
  expect(new Set(wentOn.map(([, at]) => at)).size).toBe(12);
});
