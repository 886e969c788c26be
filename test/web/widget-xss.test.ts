/** Hostile words in every place that shows words: nothing of them may run, load or leave. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { keepScreenshot } from "../support/browser.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;

beforeAll(async () => {
  world = await openWidgetWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Each text of the corpus calls this where it runs. */
const trap = "<script>window.ran = []; window.alert = window.pwned = (what) => window.ran.push(String(what));</script>";

/** What is in the shadow tree that could run or load something. */
const findDanger = `(() => {
  const root = document.querySelector("companion-chat").shadowRoot;
  const found = [];
  const allowed = new Set(["DIV","SECTION","HEADER","IMG","BUTTON","SVG","PATH","P","SPAN","TIME","FORM","TEXTAREA","A","STRONG","EM","S","CODE","PRE","UL","OL","LI","BLOCKQUOTE","HR","BR","TABLE","TR","TH","TD"]);
  for (const element of root.querySelectorAll("*")) {
    const name = element.tagName.toUpperCase();
    if (!allowed.has(name)) found.push(name);
    if (name === "IMG" && !element.closest("header") && !element.matches(".row > .who > img:not(.reply *)")) found.push("image in the log");
    for (const attribute of element.attributes) {
      if (/^on|^style$|^src(set|doc)$|^formaction$|^xlink/.test(attribute.name)) {
        if (!(attribute.name === "style" && element.matches(".root, .log > div:empty"))) found.push(name + " " + attribute.name);
      }
      if (attribute.name === "href" && !/^(https?|mailto|tel):/.test(attribute.value)) found.push("href " + attribute.value);
    }
  }
  return found;
})()`;

test("the corpus has at least a hundred texts", () => {
  expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(100);
});

test("as replies, whole and by the character, nothing runs, loads or leaves", async () => {
  const { embed_token } = await world.createCompanion();
  const { page, complaints } = await world.open();
  const requests: string[] = [];
  await page.goto(world.host(trap + tag(world.server, embed_token)));
  const widget = widgetOn(page);
  const avatar = page.waitForResponse("**/avatars/**");
  await widget.open();
  await avatar;
  page.on("request", (request) => requests.push(request.url()));
  const rounds = [hostileTexts.map((text) => `${text}\n\n`), [...hostileTexts.join(" ")]];
  for (const [index, fragments] of rounds.entries()) {
    world.respondWith(fragments);
    await widget.ask(`Round ${index}`);
    await widget.replied(index + 1);
    expect(await page.evaluate(findDanger)).toEqual([]);
  }
  world.respondWith(null);
  await keepScreenshot(page, "hostile-reply");
  // Every link and every button of the replies, pressed.
  await page.evaluate(`(() => {
    for (const element of document.querySelector("companion-chat").shadowRoot.querySelectorAll(".log a, .log .copy")) {
      element.addEventListener("click", (event) => event.preventDefault());
      element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
      element.click();
    }
  })()`);
  expect(await page.evaluate("window.ran")).toEqual([]);
  expect(requests.filter((url) => !/\/chat$|\/assets\/frames\./.test(url))).toEqual([]);
  expect(complaints.filter((text) => !/clipboard|permission/i.test(text))).toEqual([]);

  // And once more as what the browser kept.
  await page.reload();
  await widget.replies.nth(1).waitFor();
  expect(await page.evaluate(findDanger)).toEqual([]);
  expect(await page.evaluate("window.ran")).toEqual([]);
});

test("as what the visitor writes, it is shown as written", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.goto(world.host(trap + tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  const text = hostileTexts.join("\n").slice(0, 1900);
  await widget.ask(text);
  await widget.replied();
  expect(await widget.questions.first().innerText()).toBe(text.trim());
  expect(await page.evaluate(findDanger)).toEqual([]);
  expect(await page.evaluate("window.ran")).toEqual([]);
});

test("as name, greeting, avatar, colour and suggestions of a companion", async () => {
  const { embed_token } = await world.createCompanion();
  for (const text of hostileTexts.filter((_, index) => index % 9 === 0)) {
    const { page, close } = await world.open();
    await page.route(`**/api/embed/${embed_token}`, (route) =>
      route.fulfill({
        headers: { "Access-Control-Allow-Origin": "*" },
        json: {
          name: text,
          avatar_url: text,
          greeting: text,
          theme_color: text,
          has_voice: false,
          has_text_agent: true,
          voice_provider: text,
          starters: [text, text],
        },
      }),
    );
    await page.goto(world.host(trap + tag(world.server, embed_token)));
    const widget = widgetOn(page);
    await widget.open();
    expect(await page.evaluate(findDanger)).toEqual([]);
    expect(await page.evaluate("window.ran")).toEqual([]);
    await close();
  }
});

test("as attributes of the tag and as what other scripts left in storage", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  const hostile = JSON.stringify([
    { role: "assistant", text: hostileTexts.join("\n\n"), at: 1, state: "done" },
    { role: "user", text: "<img src=x onerror=pwned()>", at: 2, state: '"><script>pwned()</script>' },
    { role: "<img>", text: 5, at: "x" },
    null,
  ]);
  const prepare = `<script>localStorage.setItem("companion:${embed_token}:messages", ${JSON.stringify(hostile).replaceAll("<", "\\u003c")});
    sessionStorage.setItem("companion:${embed_token}:config", "{not json");</script>`;
  const attributes = `data-privacy-url="javascript:pwned(1)" data-position="&quot;><script>pwned(2)</script>" data-strings='{"disclosure":"<img src=x onerror=pwned(3)>"}'`;
  await page.goto(world.host(trap + prepare + tag(world.server, embed_token, attributes)));
  const widget = widgetOn(page);
  await widget.open();
  expect(await page.evaluate(findDanger)).toEqual([]);
  expect(await page.evaluate("window.ran")).toEqual([]);
});
