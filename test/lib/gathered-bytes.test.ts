/** Chunks of any size come out as they went in. */
import { expect, test } from "bun:test";
import { GatheredBytes } from "../../src/lib/gathered-bytes.ts";

function gather(pieces: readonly Uint8Array[]): GatheredBytes {
  const gathered = new GatheredBytes();
  for (const piece of pieces) gathered.add(piece);
  return gathered;
}

test("keeps the bytes in order, however they are cut", () => {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  for (const size of [1, 7, 1023, 1024, 1025, 60_000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const gathered = gather(pieces);
    expect(gathered.length).toBe(bytes.length);
    expect(Buffer.concat(gathered.blocks).equals(bytes)).toBe(true);
  }
});

test("allocates at most 64 KiB more than it holds, whatever the sizes", () => {
  const pieces = Array.from({ length: 200 }, (_, at) => new Uint8Array(at % 2 === 0 ? 1 : 70_000));
  const gathered = gather(pieces);
  const blocks = gathered.blocks;
  const takenUp = blocks.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  expect(takenUp - gathered.length).toBeLessThanOrEqual(64 * 1024);
});

test("is empty at first, and is not affected when a sender changes a piece later", () => {
  expect(Buffer.concat(new GatheredBytes().blocks).length).toBe(0);
  const piece = Uint8Array.of(1, 2, 3);
  const gathered = gather([piece, new Uint8Array(0)]);
  piece.fill(9);
  expect([...Buffer.concat(gathered.blocks)]).toEqual([1, 2, 3]);
});
