/** Work on many bytes, between which others have their turn. */
import { expect, test } from "bun:test";
import { joinInSlices } from "../../src/lib/byte-slices.ts";

test("pieces are joined in their order, a megabyte a turn", async () => {
  let turns = 0;
  let isJoining = true;
  const count = () => {
    turns++;
    if (isJoining) setImmediate(count);
  };
  setImmediate(count);
  const pieces = Array.from({ length: 80 }, (_, at) => new Uint8Array(64 * 1024).fill(at));
  const joined = await joinInSlices([...pieces, Uint8Array.of(7)]);
  isJoining = false;
  expect(joined).toEqual(Buffer.concat([...pieces, Uint8Array.of(7)]));
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(await joinInSlices([])).toHaveLength(0);
});
