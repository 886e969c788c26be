/** The example of a page with the SDK, in a browser, from an origin of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startTestServer, type TestServer } from "../support/app.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const folder = join(import.meta.dir, "../../examples/page");
let server: TestServer;
let site: ReturnType<typeof Bun.serve>;
let browser: Browser;
let settings = "";

beforeAll(async () => {
  server = await startTestServer();
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/settings.js")
        return new Response(settings, { headers: { "content-type": "text/javascript" } });
      if (pathname === "/favicon.ico") return new Response(null, { status: 204 });
      return new Response(Bun.file(join(folder, pathname === "/" ? "index.html" : pathname)));
    },
  });
  const companion = await server.createCompanion({
    name: "Ada",
    greeting: "Good day!",
    allowedOrigins: [site.url.origin],
  });
  const shipped = await Bun.file(join(folder, "settings.js")).text();
  settings = shipped.replace("http://127.0.0.1:3000", server.url).replace("emb_…", companion.embedToken);
  browser = await launchBrowser();
});
afterAll(async () => {
  await site.stop(true);
  await server.close();
});

test("a visitor reads the greeting, a whole reply, and why one failed; and can stop one", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(site.url.href);
  await page.getByText("Good day!").waitFor();
  expect(await page.textContent("h1")).toBe("Ada");

  const ask = async (message: string) => {
    await page.fill("#message", message);
    await page.click("#send");
  };
  await ask("Hello <b>there</b>");
  await page.getByText("You said: Hello <b>there</b>").waitFor();

  await ask("[[cut:3]]");
  await page.getByText("The reply was cut off. Please ask again.").waitFor();

  await ask("[[silence:3]]");
  await eventually(() => server.mockLlm.openRequests === 1);
  await page.click("#stop:enabled");
  await server.mockLlm.until(() => server.mockLlm.openRequests === 0);
  await page.locator("#send:enabled").waitFor();
  expect(await page.locator(".problem").count()).toBe(1);
  expect(complaints).toEqual([]);
});
