/** The picture in previews of links to a companion's page. */
import { expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { renderShareImage } from "../../src/api/pages/share-image.ts";

/** The palette's first and last colour, and how many of the rows of the name's first line have ink. */
async function read(name: string, color: string) {
  const png = Buffer.from(await renderShareImage(name, color));
  expect(await new Bun.Image(png).metadata()).toMatchObject({ width: 1200, height: 630, format: "png" });
  const palette = png.subarray(png.indexOf("PLTE") + 4);
  const start = png.indexOf("IDAT");
  const rows = inflateSync(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
  const inkOf = (row: number) => rows.subarray(row * 601 + 1, (row + 1) * 601).some((byte) => byte > 0);
  const inked = Array.from({ length: 630 }, (_, row) => row).filter(inkOf);
  return { ground: palette.subarray(0, 3).toString("hex"), ink: palette.subarray(45, 48).toString("hex"), inked };
}

test("it has the companion's colour and name, in up to three lines, and the sign alone where letters are missing", async () => {
  const short = await read("Zoë Łęcka", "#0f766e");
  expect(short).toMatchObject({ ground: "0f766e", ink: "ffffff" });
  expect(short.inked[0]).toBe(96);
  expect(short.inked.at(-1)).toBeGreaterThan(500);
  expect((await read("A", "#fde047")).ink).toBe("000000");
  // Ten times as long: two lines more, and none over the sign or beyond the edge.
  const long = await read("Incomprehensibilities and their ".repeat(10), "#0f766e");
  const empty = (rows: readonly number[]) => rows.filter((row, at) => at > 0 && row > (rows[at - 1] ?? 0) + 1).length;
  expect([empty(short.inked), empty(long.inked)]).toEqual([1, 3]);
  expect((await read("x".repeat(500), "#0f766e")).inked.at(-1)).toBeLessThan(630 - 90);
  const alone = await read("アダ", "#0f766e");
  expect([alone.inked[0], alone.inked.at(-1)].every((row) => Math.abs((row ?? 0) - 315) < 70)).toBe(true);
});
