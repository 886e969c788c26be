/**
 * Redraws the images of `src/web/images` for uses that do not support SVG: link previews, home screens, old tabs. The
 * files are committed, since drawing them needs Chromium (/usr/bin/chromium-headless-shell).
 *
 *   bun scripts/make-images.ts [--font FOLDER]
 *
 * With the folder of npm's `@fontsource/inter` it also draws the letters of companions' own link previews
 * (`src/api/pages/share-glyphs.embedded`).
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const folder = join(import.meta.dir, "..", "src", "web", "images");
const sign =
  '<path d="M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z" fill="#fff"/>' +
  '<path d="M8.6 9v1.6m6.8-1.6v1.6" stroke="#5b51ee" stroke-width="2.6" stroke-linecap="round"/>' +
  '<path d="M8.2 14.4q3.8 3.2 7.6 0" fill="none" stroke="#f0a321" stroke-width="2.2" stroke-linecap="round"/>';

interface Image {
  file: string;
  width: number;
  height: number;
  /** Size of the sign. */
  size: number;
  /** Corner radius of the background. */
  radius: number;
}

const images: Image[] = [
  // The size of link previews.
  { file: "share.png", width: 1200, height: 630, size: 300, radius: 0 },
  // Home screens round the corners themselves.
  { file: "touch-icon.png", width: 180, height: 180, size: 116, radius: 0 },
  { file: "favicon.png", width: 48, height: 48, size: 34, radius: 12 },
];

function draw({ width, height, size, radius }: Image): string {
  const [x, y] = [(width - size) / 2, (height - size) / 2];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" style="display:block">` +
    `<rect width="${width}" height="${height}" rx="${radius}" fill="#5b51ee"/>` +
    `<svg x="${x}" y="${y}" width="${size}" height="${size}" viewBox="0 0 24 24">${sign}</svg></svg>`
  );
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium-headless-shell", args: ["--no-sandbox"] });
mkdirSync(folder, { recursive: true });
for (const image of images) {
  const { file, width, height } = image;
  const page = await browser.newPage({ viewport: { width, height } });
  await page.setContent(`<body style="margin:0;background:transparent">${draw(image)}</body>`);
  const bytes = await page.screenshot({ path: join(folder, file), omitBackground: true });
  console.log(`${file}: ${width} by ${height}, ${bytes.length} bytes`);
  await page.close();
}
const { font } = parseArgs({ options: { font: { type: "string" } } }).values;
if (font !== undefined) {
  const glyphs = await drawGlyphs(font);
  const index = `${JSON.stringify(glyphs.map(({ shades: _, ...box }) => Object.values(box)))}\n`;
  const shades = glyphs.map((glyph) => Buffer.from(glyph.shades));
  const bytes = gzipSync(Buffer.concat([Buffer.from(index), ...shades]), { level: 9 });
  writeFileSync(join(folder, "..", "..", "api", "pages", "share-glyphs.embedded"), bytes);
  console.log(`${glyphs.length} letters, ${bytes.length} bytes`);
}
await browser.close();

interface Glyph {
  code: number;
  width: number;
  height: number;
  left: number;
  top: number;
  advance: number;
  /** 0 to 15, row after row. */
  shades: number[];
}

/** Letters of Latin, Greek and Cyrillic at 84 pixels, from the line they stand on; and as code 0 the sign. */
async function drawGlyphs(font: string): Promise<Glyph[]> {
  const css = readFileSync(join(font, "600.css"), "utf8").replaceAll(/url\(\.\/(files\/[^)]+\.woff2)\)/g, (_, file) => {
    return `url(data:font/woff2;base64,${readFileSync(join(font, file)).toString("base64")})`;
  });
  const page = await browser.newPage();
  await page.setContent(`<style>${css}</style>`);
  const draw = String.raw`(async () => {
    const ranges = [
      [0x20, 0x17f],
      [0x218, 0x21b],
      [0x384, 0x3ce],
      [0x400, 0x45f],
      [0x490, 0x491],
      [0x1e9e, 0x1e9e],
      [0x2010, 0x2026],
      [0x20ac, 0x20ac],
      [0x2122, 0x2122],
    ];
    const codes = ranges.flatMap(([from = 0, to = 0]) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
    const letters = codes.filter((code) => /[\p{L}\p{N}\p{P}\p{S}\p{Zs}]/u.test(String.fromCodePoint(code)));
    await document.fonts.load("600 84px Inter", String.fromCodePoint(...letters));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [240, 240];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const take = (code, advance, x, y) => {
      const { data } = context.getImageData(0, 0, 240, 240);
      const shadeAt = (column, row) => Math.round((data[(row * 240 + column) * 4 + 3] ?? 0) / 17);
      const all = Array.from({ length: 240 }, (_, at) => at);
      const columns = all.filter((column) => all.some((row) => shadeAt(column, row) > 0));
      const rows = all.filter((row) => all.some((column) => shadeAt(column, row) > 0));
      const [left = x, top = y] = [columns[0], rows[0]];
      const width = (columns.at(-1) ?? left - 1) - left + 1;
      const height = (rows.at(-1) ?? top - 1) - top + 1;
      const shades = all.slice(top, top + height).flatMap((row) => {
        return all.slice(left, left + width).map((column) => shadeAt(column, row));
      });
      context.clearRect(0, 0, 240, 240);
      return { code, width, height, left: left - x, top: top - y, advance: Math.round(advance), shades };
    };
    context.setTransform(5, 0, 0, 5, 0, 0);
    context.fill(new Path2D("M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z"));
    context.globalCompositeOperation = "destination-out";
    context.lineCap = "round";
    context.lineWidth = 2.6;
    context.stroke(new Path2D("M8.6 9v1.6m6.8-1.6v1.6"));
    context.lineWidth = 2.2;
    context.stroke(new Path2D("M8.2 14.4q3.8 3.2 7.6 0"));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalCompositeOperation = "source-over";
    const sign = take(0, 0, 0, 0);
    context.font = "600 84px Inter";
    return [
      sign,
      ...letters.map((code) => {
        const letter = String.fromCodePoint(code);
        context.fillText(letter, 60, 140);
        return take(code, context.measureText(letter).width, 60, 140);
      }),
    ];
  })()`;
  return await page.evaluate<Glyph[]>(draw);
}
