/** The widget over pages and tabs: what it asks for, what it keeps, and what a page may change meanwhile. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test("an element of the page's own markup asks for its companion once, however many attributes it has", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().endsWith(`/api/embed/${embed_token}`)) asked++;
  });
  await page.goto(
    world.host(
      `<companion-chat mode="inline" theme="light" lang="en" token="${embed_token}"></companion-chat><script src="${world.server.url}/widget.js" async></script>`,
    ),
  );
  await widgetOn(page).input.waitFor();
  expect(asked).toBe(1);
});

test("what is announced to screen readers does not lengthen the page", async () => {
  const { embed_token } = await world.createCompanion();
  world.respondWith(["It takes many words to say this. ".repeat(20)]);
  const { page } = await world.open();
  await page.goto(
    world.host(
      `<companion-chat mode="inline" token="${embed_token}"></companion-chat><script src="${world.server.url}/widget.js" async></script>`,
    ),
  );
  const widget = widgetOn(page);
  await widget.ask("Say much");
  await widget.replied();
  const beyond = await page.evaluate<number>("document.documentElement.scrollHeight - innerHeight");
  expect(beyond).toBeLessThan(300);
});

test("a page that waits for the element hears that it is ready, also from the cached configuration", async () => {
  const { embed_token } = await world.createCompanion({ name: "Grace" });
  const { page } = await world.open();
  const listen = `<script>heard = [];
    customElements.whenDefined("companion-chat").then(() =>
      document.querySelector("companion-chat").on("ready", ({ name }) => heard.push(name)))</script>`;
  await page.goto(
    world.host(
      `<companion-chat token="${embed_token}"></companion-chat>${listen}<script src="${world.server.url}/widget.js" async></script>`,
    ),
  );
  for (let visit = 1; visit <= 2; visit++) {
    await widgetOn(page).launcher.waitFor();
    expect(await page.evaluate<string[]>("heard")).toEqual(["Grace"]);
    await page.reload();
  }
});

test("a conversation goes on in another tab, and no tab takes away what another has added", async () => {
  const { embed_token } = await world.createCompanion();
  world.respondWith(["Answered."]);
  const { page } = await world.open();
  const address = world.host(tag(world.server, embed_token));
  await page.goto(address);
  const tabs = page.context();
  const [second, idle] = [await tabs.newPage(), await tabs.newPage()];
  for (const tab of [second, idle]) {
    await tab.goto(address);
    await widgetOn(tab).launcher.waitFor();
  }
  const first = widgetOn(page);
  await first.open();
  await first.ask("In the first tab");
  await first.replied();
  const other = widgetOn(second);
  await other.open();
  await other.ask("In the second tab");
  await other.replied(2);
  const questions = ["In the first tab", "In the second tab"];
  expect(await other.questions.allInnerTexts()).toEqual(questions);

  await page.goto("about:blank");
  await idle.goto(address);
  await idle.reload();
  await widgetOn(idle).open();
  // The panel may be there before what was said in it.
  await widgetOn(idle).questions.nth(1).waitFor();
  expect(await widgetOn(idle).questions.allInnerTexts()).toEqual(questions);
});

test("a reply goes on when the element is made anew, before its first word too", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  world.respondWith(["In ", "time."], 200);
  await widget.ask("Are you there?");
  await widget.element.locator(".dots").waitFor();
  await page.evaluate('document.querySelector("companion-chat").setAttribute("strings", "{}")');
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Are you there?"]);
  expect(await widget.replies.last().innerText()).toBe("In time.");
});

test("a change between light and dark disturbs neither a reply nor what is being written", async () => {
  const { embed_token } = await world.createCompanion();
  world.respondWith(["One, ", "two, ", "three."], 150);
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("Count");
  await widget.input.fill("A draft");
  await page.evaluate('document.querySelector("companion-chat").setAttribute("theme", "dark")');
  await widget.element.locator(".root.dark").waitFor({ state: "attached" });
  await widget.replied();
  expect(await widget.replies.last().innerText()).toBe("One, two, three.");
  expect(await widget.input.inputValue()).toBe("A draft");
});

test("an isolated page shows the avatar that the server makes", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, complaints } = await world.open();
  const headers = { "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Opener-Policy": "same-origin" };
  await page.goto(
    world.host(
      `<script src="${world.server.url}/widget.js" data-token="${embed_token}" crossorigin="anonymous"></script>`,
      { headers },
    ),
  );
  const widget = widgetOn(page);
  await widget.open();
  await page.waitForFunction(
    'document.querySelector("companion-chat").shadowRoot.querySelector("img")?.naturalWidth > 0',
  );
  expect(complaints).toEqual([]);
});
