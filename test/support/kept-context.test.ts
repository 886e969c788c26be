/** Contexts that go from test to test: what a page still writes while it is closed is gone as well. */
import { afterAll, expect, test } from "bun:test";
import { launchBrowser, openPage } from "./browser.ts";

/** Writes all the time, and so while it is closed. */
const html = `<!doctype html><script>
window.found = Object.keys(localStorage).length;
setInterval(() => { for (let i = 0; i < 20; i++) localStorage.setItem(i, Math.random() + "x".repeat(50_000)); }, 1);
</script>`;
const website = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => new Response(html, { headers: { "content-type": "text/html" } }),
});
afterAll(() => website.stop(true));

test("nothing that a page writes while it is closed is found by the next one", async () => {
  const browser = await launchBrowser();
  for (let round = 0; round < 4; round++) {
    const { page, close } = await openPage(browser);
    await page.goto(String(website.url));
    expect(await page.evaluate("window.found")).toBe(0);
    await page.waitForFunction("localStorage.length === 20");
    await close();
  }
});
