/** The widget on websites that make it hard: strict policies, Trusted Types, aggressive styles, sandboxes, twice over. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { keepScreenshot } from "../support/browser.ts";
import { openWidgetWorld, styleOf, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let token: string;
let otherToken: string;

beforeAll(async () => {
  world = await openWidgetWorld();
  token = (await world.createCompanion({ starters: ["Hello?"] })).embed_token;
  otherToken = (await world.createCompanion({ name: "Bert", theme_color: "#facc15" })).embed_token;
});
afterAll(() => world[Symbol.asyncDispose]());

test("works under a policy without unsafe-inline, and under Trusted Types", async () => {
  const { url } = world.server;
  const policy = [
    `default-src 'none'; script-src 'self' ${url}; style-src 'self'; connect-src ${url}; img-src ${url}`,
    "require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'",
  ].join("; ");
  const { page, complaints } = await world.open();
  await page.goto(
    world.host(tag(world.server, token, 'data-lang="de"'), { headers: { "Content-Security-Policy": policy } }),
  );
  const widget = widgetOn(page);
  await widget.open();
  world.respondWith(["# Title\n\n**bold** `code`\n\n```js\nlet a = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"]);
  await widget.ask("Format!");
  await widget.replied();
  world.respondWith(null);
  await widget.element.locator("table").waitFor();
  await widget.log.getByText("KI-Assistent").first().waitFor();
  expect(complaints).toEqual([]);
  await keepScreenshot(page, "strict-policy");
});

test("keeps its looks where the page's style sheet attacks everything", async () => {
  const head = `<style>
    *, ::before, ::after { all: unset !important; color: red !important; font: 40px/3 fantasy !important; text-transform: uppercase !important;
      letter-spacing: 1em !important; padding: 30px !important; border: 9px dashed lime !important; visibility: hidden !important; }
    html { font-size: 4px !important; direction: rtl; }
    companion-chat { display: none !important; opacity: 0 !important; transform: scale(3) !important; filter: blur(9px) !important;
      position: static !important; width: 1px !important; contain: strict !important; zoom: 4 !important; pointer-events: none !important; }
    .panel, .launcher, button, textarea, p { display: none !important; }
  </style>`;
  const { page: hostile } = await world.open({ reducedMotion: "reduce" });
  await hostile.goto(world.host(tag(world.server, token), { head }));
  const { page: plain } = await world.open({ reducedMotion: "reduce" });
  await plain.goto(world.host(tag(world.server, token)));
  const boxes = await Promise.all(
    [hostile, plain].map(async (page) => {
      const widget = widgetOn(page);
      await widget.open();
      await widget.element.locator(".starter").waitFor();
      await page.mouse.move(5, 5);
      return {
        launcher: await widget.launcher.boundingBox(),
        panel: await widget.panel.boundingBox(),
        greeting: await widget.replies.first().boundingBox(),
        font: await styleOf(page, ".body", "font"),
      };
    }),
  );
  await keepScreenshot(hostile, "hostile-style");
  expect(boxes[0]).toEqual(boxes[1]);
});

test("stays at the window's corner where the page's body moves and clips what is fixed, unless it is boxed", async () => {
  const head = `<style>body { transform: translateX(40px); filter: grayscale(0); contain: paint; margin: 0; height: 3000px }</style>`;
  const { page } = await world.open({ reducedMotion: "reduce" });
  await page.goto(world.host(tag(world.server, token), { head }));
  const widget = widgetOn(page);
  await widget.open();
  await widget.element.locator(".starter").waitFor();
  await page.mouse.move(5, 5);
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  expect(await widget.launcher.boundingBox()).toEqual({ x: width - 76, y: height - 76, width: 56, height: 56 });
  expect(await widget.panel.boundingBox()).toMatchObject({ x: width - 440, width: 420 });

  // As the dashboard shows it: within its box, with a configuration and answers of its own.
  const { page: shown, complaints } = await world.open({ reducedMotion: "reduce" });
  const asked: string[] = [];
  shown.on("request", (request) => asked.push(request.url()));
  await shown.goto(world.host(`<script src="${world.server.url}/widget.js"></script>`));
  await shown.evaluate(`(() => {
    const box = document.body.appendChild(document.createElement("div"));
    box.style.cssText = "transform:translate(0);width:500px;height:600px";
    const chat = document.createElement("companion-chat");
    chat.setAttribute("token", "preview");
    chat.setAttribute("boxed", "");
    chat.config = { name: "Eve", avatar_url: "", greeting: "Hello", theme_color: "#123456", has_text_agent: true };
    chat.fetch = async (url) => new Response('data: {"text":"Given"}\\n\\ndata: [DONE]\\n\\n', { headers: { "content-type": "text/event-stream" } });
    box.append(chat);
    chat.send("Hi");
  })()`);
  const preview = widgetOn(shown);
  await preview.replied();
  expect(await preview.replies.last().innerText()).toBe("Given");
  const box = await shown.locator("body > div").boundingBox();
  expect(await preview.launcher.boundingBox()).toMatchObject({ x: (box?.x ?? 0) + 424, y: (box?.y ?? 0) + 524 });
  await shown.evaluate(
    `{ const chat = document.querySelector("companion-chat"); chat.config = { ...chat.config, name: "Mia" } }`,
  );
  expect(await preview.panel.getAttribute("aria-label")).toBe("Mia");
  expect(asked.filter((url) => url.includes("/api/"))).toEqual([]);
  expect(complaints).toEqual([]);
});

test("works in a sandboxed frame, without storage and with an opaque origin", async () => {
  const inner = `<!doctype html><title>Framed</title><body>${tag(world.server, token)}`;
  const { page, complaints } = await world.open();
  await page.goto(
    world.host(
      `<iframe sandbox="allow-scripts" width="600" height="640" srcdoc="${inner.replaceAll('"', "&quot;")}"></iframe>`,
    ),
  );
  const frame = page.frameLocator("iframe");
  await frame.locator(".launcher").click();
  const input = frame.locator("companion-chat textarea");
  await input.fill("from a sandbox");
  await input.press("Enter");
  await frame.locator(".row.assistant[data-state=done]").waitFor();
  expect(await frame.locator(".row.assistant .body").last().innerText()).toBe("You said: from a sandbox");
  expect(complaints).toEqual([]);
});

test("works where storage throws, and where it is full", async () => {
  for (const trap of [
    `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError") } });
     Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("no", "SecurityError") } });`,
    `Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") };`,
  ]) {
    const { page, complaints } = await world.open();
    await page.goto(world.host(`<script>${trap}</script>${tag(world.server, token)}`));
    const widget = widgetOn(page);
    await widget.open();
    await widget.ask("one");
    await widget.replied(1);
    await widget.ask("two");
    await widget.replied(2);
    // One conversation all the same, as long as the page lives.
    expect(JSON.stringify(world.mockLlm.requests.at(-1)?.body.messages)).toContain("You said: one");
    expect(complaints).toEqual([]);
  }
});

test("the script loaded twice makes one widget; two companions make two, side by side", async () => {
  const { page, complaints } = await world.open();
  const body = tag(world.server, token) + tag(world.server, token) + tag(world.server, otherToken);
  await page.goto(world.host(body));
  const widgets = page.locator("companion-chat");
  await widgets.locator(".launcher").nth(1).waitFor();
  expect(await widgets.count()).toBe(2);
  const [first, second] = await Promise.all(
    [0, 1].map((index) => widgets.nth(index).locator(".launcher").boundingBox()),
  );
  expect(Math.abs((first?.x ?? 0) - (second?.x ?? 0))).toBeGreaterThanOrEqual(56);

  await widgets.nth(0).locator(".launcher").click();
  const input = widgets.nth(0).locator("textarea");
  await input.fill("to the first alone");
  await input.press("Enter");
  await widgets.nth(0).locator(".row.assistant[data-state=done]").waitFor();
  expect(await widgets.nth(1).locator(".row.user").count()).toBe(0);
  await keepScreenshot(page, "two-widgets");
  // Panels share their place: the one that opens is the one that is seen.
  await widgets.nth(1).locator(".launcher").click();
  await widgets.nth(0).locator(".panel").waitFor({ state: "hidden" });
  await widgets.nth(1).locator(".panel").waitFor();
  expect(complaints).toEqual([]);
});

test("one companion inline and another as a launcher share a page", async () => {
  const { page } = await world.open();
  await page.goto(
    world.host(`${tag(world.server, token)}<companion-chat mode="inline" token="${otherToken}"></companion-chat>`),
  );
  const inline = widgetOn(page, `companion-chat[token="${otherToken}"]`);
  const launcher = widgetOn(page, `companion-chat[token="${token}"]`);
  await inline.ask("inline");
  await inline.replied();
  await launcher.open();
  await launcher.ask("launcher");
  await launcher.replied();
  expect(await inline.questions.allInnerTexts()).toEqual(["inline"]);
  expect(await launcher.questions.allInnerTexts()).toEqual(["launcher"]);
});

test("the element can be moved, retokened and taken away while a reply streams", async () => {
  const { page, complaints } = await world.open();
  await page.goto(world.host(`${tag(world.server, token)}<aside></aside>`));
  const widget = widgetOn(page);
  await widget.open();
  await widget.ask("[[delay:20]] [[words:100]]");
  await widget.replies
    .nth(1)
    .getByText(/\w+ \w+/)
    .waitFor();
  await page.evaluate(`document.querySelector("aside").append(document.querySelector("companion-chat"))`);
  // It goes on at the server, and in the next panel.
  await widget.element.locator(".row.assistant[data-state=streaming]").waitFor();
  await page.evaluate(`document.querySelector("companion-chat").setAttribute("token", "${otherToken}")`);
  await widget.element.locator(".panel[aria-label=Bert]").waitFor({ state: "attached" });
  await page.evaluate(`document.querySelector("companion-chat").remove()`);
  await world.mockLlm.until(() => world.mockLlm.openRequests === 0);
  expect(complaints).toEqual([]);
});
