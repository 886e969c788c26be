/** The widget's second file: fetched before it is needed, waited for where it is slow, and missed in plain words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;
let panel: { path: string; integrity: string };

beforeAll(async () => {
  world = await openWidgetWorld();
  token = (await world.createCompanion()).embed_token;
  panel = (await published())["panel.js"] as typeof panel;
});
afterAll(() => world[Symbol.asyncDispose]());

async function published(): Promise<Record<string, { path: string; integrity: string }>> {
  return (await (await fetch(`${world.server.url}/assets/integrity.json`)).json()) as Record<
    string,
    { path: string; integrity: string }
  >;
}

test("the launcher stands without the panel's file, which comes behind it, once, and does not run unasked", async () => {
  const { page, complaints } = await world.open();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  const come = page.waitForResponse(world.server.url + panel.path);
  await page.goto(world.host(tag(world.server, token)));
  const widget = widgetOn(page);
  await widget.launcher.waitFor();
  await come;
  expect(await widget.element.locator("textarea").count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.context().setOffline(true);
  await widget.open();
  // What had come was enough.
  await widget.input.waitFor();
  expect(asked.filter((path) => path.includes("panel"))).toEqual([panel.path]);
});

test("a panel that is slow to come shows whose chat it is, keeps the focus, and takes what the page sends", async () => {
  const { page } = await world.open({ reducedMotion: "reduce" });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/assets/panel.*.js", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(world.host(tag(world.server, token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.panel.getByRole("status").getByText("Loading…").waitFor();
  expect(await widget.panel.locator("header").innerText()).toBe("Ada\nAI assistant");
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "panel-loading");
  await page.keyboard.press("Escape");
  await widget.panel.waitFor({ state: "hidden" });
  await widget.open();
  await page.evaluate('void document.querySelector("companion-chat").send("Sent too early")');
  release();
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Sent too early"]);
  await page.keyboard.type("In the field");
  expect(await widget.input.inputValue()).toBe("In the field");
});

test("where the page's script is of another version than the server, the panel of the server's version serves", async () => {
  const { page } = await world.open();
  const missing = { status: 404, headers: { "Access-Control-Allow-Origin": "*" } };
  await page.route("**/assets/panel.*.js", (route) => route.fulfill(missing));
  await page.goto(world.host(tag(world.server, token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Hello"]);
});

test("a panel that fails to load says so in a sentence, by keyboard too, and can be tried again", async () => {
  const { page } = await world.open({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
  let isDown = true;
  const asked: string[] = [];
  await page.route(/\/panel(\.\w+)?\.js/, (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return isDown ? route.abort() : route.continue();
  });
  await page.goto(world.host(tag(world.server, token)));
  const widget = widgetOn(page);
  await widget.launcher.press("Enter");
  await widget.panel.getByText("The chat could not be loaded. Please try again.").waitFor();
  expect(asked.filter((path) => path === "/panel.js")).toHaveLength(1);
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "panel-missing");
  // The way out is there as well, and opening anew is another try.
  await widget.launcher.click();
  await widget.panel.waitFor({ state: "hidden" });
  await widget.open();
  await widget.panel.getByText("Loading…").waitFor();
  await widget.panel.getByText("The chat could not be loaded.").waitFor();
  isDown = false;
  await widget.button("Try again").press("Enter");
  await widget.input.waitFor();
  await widget.ask("Here now");
  await widget.replied();
});

test.each([
  ["a nonce alone", (url: string) => `script-src 'nonce-abc'; connect-src ${url}`],
  ["a nonce and what it loads", (url: string) => `script-src 'nonce-abc' 'strict-dynamic'; connect-src ${url}`],
])("a policy that names %s is enough", async (_, policy) => {
  const { url } = world.server;
  const { page, complaints } = await world.open();
  await page.goto(
    world.host(tag(world.server, token, 'nonce="abc"'), {
      headers: {
        "Content-Security-Policy": `default-src 'none'; style-src 'self'; img-src ${url}; ${policy(url)}; require-trusted-types-for 'script'; trusted-types 'none'`,
      },
    }),
  );
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  // By the SDK, which comes in a file of its own.
  await page.evaluate('document.querySelector("companion-chat").identify("a.visitor.token")');
  await widget.questions.getByText("Hello").waitFor();
  await widget.ask("Hello again");
  await widget.replied(2);
  expect(complaints).toEqual([]);
});

test("a page that pins the script by its hash runs no other panel than that version's", async () => {
  const { path, integrity } = (await published())["widget.js"] ?? { path: "", integrity: "" };
  const { page } = await world.open();
  const real = await (await fetch(world.server.url + panel.path)).text();
  let tampered = 0;
  await page.route(/\/panel(\.\w+)?\.js/, (route) => {
    tampered++;
    return route.fulfill({
      body: `window.tampered = true;${real}`,
      contentType: "text/javascript",
      headers: { "Access-Control-Allow-Origin": "*" },
    });
  });
  await page.goto(
    world.host(
      `<script src="${world.server.url}${path}" integrity="${integrity}" crossorigin="anonymous" data-token="${token}" async></script>`,
    ),
  );
  const widget = widgetOn(page);
  await widget.open();
  await widget.panel.getByText("The chat could not be loaded.").waitFor();
  expect(tampered).toBeGreaterThanOrEqual(2);
  expect(await page.evaluate("window.tampered")).toBeUndefined();
});
