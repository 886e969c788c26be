/** Parts of the dashboard whose code is loaded on first use, where they are drawn just before that code has come. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { launchBrowser, openPage } from "../support/browser.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
let script = "";

/** A dialog is opened, closed while its code is on the way, and opened again when that comes. */
const source = `
import { h, render } from "preact";
import { lazy } from "./ui/lazy.tsx";
const [asked, loading] = [Promise.withResolvers(), Promise.withResolvers()];
const Part = lazy(() => {
  asked.resolve();
  return loading.promise;
});
const draw = (key) => render(h(Part, { key }), document.body);
draw("first");
await asked.promise;
render(null, document.body);
draw("second");
loading.resolve(() => h("p", {}, "It is here."));
`;

beforeAll(async () => {
  const dashboard = join(import.meta.dir, "../../src/web/dashboard");
  const entry = join(dashboard, "lazy-parts-entry.tsx");
  const built = await Bun.build({
    entrypoints: [entry],
    files: { [entry]: source },
    target: "browser",
    outdir: folder.path,
  });
  script = await Bun.file(String(built.outputs[0]?.path)).text();
});

test("a part that is drawn just before its code comes for another one appears", async () => {
  const { page, complaints } = await openPage(await launchBrowser());
  await page.setContent("<!doctype html><title>Parts</title>");
  await page.addScriptTag({ content: script, type: "module" });
  await page.getByText("It is here.").waitFor();
  expect(complaints).toEqual([]);
});
