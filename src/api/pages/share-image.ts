/** The picture in previews of links to a companion's page: its name on its colour, as a PNG of 1200 by 630. */
import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import { readableTextColor } from "../../lib/contrast.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import glyphFile from "./share-glyphs.embedded" with { type: "file" };

const width = 1200;
const height = 630;
const margin = 96;
const lineHeight = 104;
const maxLines = 3;
/** Of the line that the last line of the name stands on. */
const baseline = height - margin - 20;
const compress = promisify(deflate);

/** Offsets are from the start of the line that letters stand on, in pixels. */
interface Glyph {
  width: number;
  height: number;
  left: number;
  top: number;
  advance: number;
  /** 0 to 15, row after row. */
  shades: Uint8Array;
}

type Glyphs = ReadonlyMap<number, Glyph>;

let loading: Promise<Glyphs> | null = null;

/** The letters that `scripts/make-images.ts` has drawn, by code point; as 0 the sign. */
async function readGlyphs(): Promise<Glyphs> {
  const bytes = Bun.gunzipSync(await Bun.file(glyphFile).bytes());
  let at = bytes.indexOf(10) + 1;
  const index = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at))) as number[][];
  return new Map(
    index.map(([code = 0, width = 0, height = 0, left = 0, top = 0, advance = 0]) => {
      const shades = bytes.subarray(at, at + width * height);
      at += width * height;
      return [code, { width, height, left, top, advance, shades }];
    }),
  );
}

/** Each takes 10 ms of the event loop: links that are previewed by many must not hold up replies. */
const drawing = createSemaphore({ concurrency: 1, maxWaiting: 8 });

/**
 * `color`: `#rrggbb`. Rejects with `SemaphoreFull` where too many wait. A name with characters beyond Latin, Greek and Cyrillic is left out, and the sign is in the
 * middle: previews show the page's title beside the picture.
 */
export function renderShareImage(name: string, color: string): Promise<Uint8Array> {
  return drawing.run(() => draw(name, color));
}

async function draw(name: string, color: string): Promise<Uint8Array> {
  loading ??= readGlyphs();
  const glyphs = await loading;
  const canvas = new Uint8Array(width * height);
  const lines = breakLines(name.normalize("NFC").trim(), glyphs);
  const sign = glyphs.get(0);
  const isAlone = lines.length === 0;
  if (sign !== undefined && isAlone) drawGlyph(canvas, sign, (width - 120) / 2, (height - 120) / 2);
  if (sign !== undefined && !isAlone) drawGlyph(canvas, sign, margin - sign.left, margin - sign.top);
  for (const [at, line] of lines.entries()) {
    let x = margin;
    for (const glyph of line) {
      drawGlyph(canvas, glyph, x, baseline - (lines.length - 1 - at) * lineHeight);
      x += glyph.advance;
    }
  }
  return await encodePng(canvas, color);
}

/** Between words where possible; what does not fit into the last line ends in "…". None if a letter is missing. */
function breakLines(name: string, glyphs: Glyphs): Glyph[][] {
  const maxWidth = width - 2 * margin;
  const ellipsis = glyphs.get(0x2026);
  const lines: Glyph[][] = [];
  let line: Glyph[] = [];
  for (const word of name.split(/\s+/)) {
    const letters = [...word].map((letter) => glyphs.get(letter.codePointAt(0) ?? 0));
    if (letters.some((letter) => letter === undefined)) return [];
    const space = line.length === 0 ? [] : [glyphs.get(0x20)];
    const added = [...space, ...letters].filter((letter) => letter !== undefined);
    if (measure(line) + measure(added) <= maxWidth) {
      line.push(...added);
      continue;
    }
    if (line.length > 0) lines.push(line);
    line = added.slice(space.length);
    while (measure(line) > maxWidth) {
      const fitting = line.findIndex((_, at) => measure(line.slice(0, at + 1)) > maxWidth);
      lines.push(line.splice(0, fitting));
    }
  }
  if (line.length > 0) lines.push(line);
  if (lines.length <= maxLines || ellipsis === undefined) return lines;
  const last = lines[maxLines - 1] ?? [];
  while (measure(last) + ellipsis.advance > maxWidth) last.pop();
  return [...lines.slice(0, maxLines - 1), [...last, ellipsis]];
}

function measure(line: readonly Glyph[]): number {
  return line.reduce((sum, { advance }) => sum + advance, 0);
}

function drawGlyph(canvas: Uint8Array, glyph: Glyph, x: number, y: number): void {
  for (let row = 0; row < glyph.height; row++) {
    const start = (y + glyph.top + row) * width + x + glyph.left;
    for (let column = 0; column < glyph.width; column++) {
      const shade = glyph.shades[row * glyph.width + column] ?? 0;
      canvas[start + column] = Math.max(canvas[start + column] ?? 0, shade);
    }
  }
}

/** `canvas`: 0 to 15 for each pixel, from the colour to the one that is readable on it: a palette of four bits. */
async function encodePng(canvas: Uint8Array, color: string): Promise<Uint8Array> {
  const ink = readableTextColor(color);
  const channels = (of: string) => [1, 3, 5].map((at) => Number.parseInt(of.slice(at, at + 2), 16));
  const [ground, letters] = [channels(color), channels(ink)];
  const palette = Array.from({ length: 16 }, (_, shade) =>
    ground.map((value, at) => Math.round(value + (((letters[at] ?? 0) - value) * shade) / 15)),
  );
  const rowBytes = width / 2 + 1;
  const rows = new Uint8Array(rowBytes * height);
  for (let at = 0; at < canvas.length; at += 2) {
    const row = Math.floor(at / width);
    rows[row * rowBytes + 1 + (at % width) / 2] = ((canvas[at] ?? 0) << 4) | (canvas[at + 1] ?? 0);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([4, 3], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = chunk("IDAT", await compress(rows));
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette.flat())),
    data,
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
