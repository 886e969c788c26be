/**
 * Photographs every page and state that people see, on a phone of 360 pixels that is touched and at 1280 pixels, light
 * and dark, for the eye: of the executable in `dist`, with companions, visitors and a team that have talked.
 *
 *   bun scripts/build.ts && bun scripts/screenshots.ts --out FOLDER [--beside EARLIER] [--only WORD]
 *
 * `FOLDER/index.html` shows all of them, with `--beside` each next to the one of the earlier folder.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { launchBrowser } from "../test/support/browser.ts";
import { dashboardScenes } from "./screenshots/dashboard-scenes.ts";
import type { Scene } from "./screenshots/scene.ts";
import { widgetScenes } from "./screenshots/widget-scenes.ts";
import { openScreenshotWorld, type ScreenshotWorld } from "./screenshots/world.ts";

const sizes = {
  wide: { viewport: { width: 1280, height: 860 } },
  phone: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
};
/** A microphone without one, and leave to use it. */
const flags = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
];

const { values } = parseArgs({
  options: { out: { type: "string" }, beside: { type: "string" }, only: { type: "string", default: "" } },
});
if (values.out === undefined) throw new Error("Name a folder for the pictures: --out FOLDER");
const folder = resolve(values.out);
mkdirSync(folder, { recursive: true });

const world = await openScreenshotWorld();
const scenes = [...dashboardScenes(world), ...widgetScenes(world)].filter(({ name }) => name.includes(values.only));
const failures: string[] = [];
for (const [size, screen] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"] as const) {
    const signedIn = await open({ ...screen, colorScheme }, world.cookie);
    const visitor = await open({ ...screen, colorScheme }, null);
    for (const scene of scenes) {
      const { page } = scene.isSignedIn ? signedIn : visitor;
      const name = `${scene.name}-${size}-${colorScheme}`;
      await photograph(scene, page, name).catch((error: Error) => failures.push(`${name}: ${error.message}`));
    }
    await Promise.all([signedIn.close(), visitor.close()]);
  }
}
writeFileSync(join(folder, "index.html"), renderIndex(values.beside));
console.log(`${readdirSync(folder).length - 1} pictures in ${folder}, ${failures.length} failed`);
for (const failure of failures) console.log(failure);
await (await launchBrowser(flags)).close();
await world[Symbol.asyncDispose]();
process.exit(failures.length === 0 ? 0 : 1);

async function open(options: object, cookie: ScreenshotWorld["cookie"] | null) {
  const context = await (await launchBrowser(flags)).newContext({ ...options, reducedMotion: "reduce" });
  context.setDefaultTimeout(6000);
  if (cookie !== null) await context.addCookies([cookie]);
  return { page: await context.newPage(), close: () => context.close() };
}

async function photograph(scene: Scene, page: Page, name: string): Promise<void> {
  try {
    await page.goto(scene.url);
    await scene.ready(page);
    await page.waitForLoadState("networkidle", { timeout: 500 }).catch(() => {});
  } finally {
    // What a failed scene shows says why.
    await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled", caret: "hide" });
  }
}

function renderIndex(beside: string | undefined): string {
  const earlier = beside === undefined ? null : relative(folder, resolve(beside));
  const figures = readdirSync(folder)
    .filter((file) => file.endsWith(".png"))
    .sort()
    .map((file) => {
      const images = [...(earlier === null ? [] : [`${earlier}/${file}`]), file];
      return `<figure><figcaption>${file}</figcaption>${images.map((source) => `<img loading="lazy" alt="" src="${source}">`).join("")}</figure>`;
    });
  const style =
    "body{font:14px system-ui;background:#888}figure{margin:24px 0}img{max-width:49%;vertical-align:top;margin-right:8px}";
  return `<!doctype html><meta charset="utf-8"><title>Screenshots</title><style>${style}</style>${figures.join("\n")}`;
}
