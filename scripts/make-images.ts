/**
 * Redraws the images of `src/web/images` for uses that do not support SVG: link previews, home screens, old tabs. The
 * files are committed, since drawing them needs Chromium (/usr/bin/chromium-headless-shell).
 *
 *   bun scripts/make-images.ts
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

const folder = join(import.meta.dir, "..", "src", "web", "images");
const sign =
  '<path d="M12 2a10 10 0 0 0-8.5 15.2L2.4 21.6l4.6-1.1A10 10 0 1 0 12 2z" fill="#fff"/>' +
  '<path d="M8.6 9v1.6m6.8-1.6v1.6" stroke="#5b51ee" stroke-width="2.6" stroke-linecap="round"/>' +
  '<path d="M8.2 14.4q3.8 3.2 7.6 0" fill="none" stroke="#e08a00" stroke-width="2.2" stroke-linecap="round"/>';

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
await browser.close();
