/** A reply with everything in it, where it is read: in the widget, the playground and the transcript, in each theme and direction. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { findViolations } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { someOf } from "../support/full.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";

const english = `# Getting started

A paragraph with **bold**, _slanted_, __strong__, ~~gone~~, \`code\`, &copy; &lt;entities&gt;<br>and [a link](https://example.com/).

## Steps

1. First, install it:
   \`\`\`sh
   curl -fsS https://example.com/install | sh
   \`\`\`
2. Then choose
   - one thing, or
   - another
     - and its detail
3. Done

### Tasks

- [x] written
- [ ] tested

> Quoted, *once*.
>
> > And twice.

---

| Item | Count | Price |
|:-----|:-----:|------:|
| Apples | 3 | 4.50 |
| Pears, the long ones | 12 | 19.00 |
`;

const arabic = `# البداية

فقرة فيها **غامق** و _مائل_ و\`code\` و[رابط](https://example.com/).

1. أولا
   - شيء
   - شيء آخر
2. ثانيا

- [x] مكتوب
- [ ] مجرب

> اقتباس

---

| الصنف | العدد | السعر |
|:-----|:-----:|------:|
| تفاح | 3 | 4.50 |

\`\`\`js
let a = 1;
\`\`\`
`;

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
  respondWithReplies();
});
afterAll(() => world[Symbol.asyncDispose]());

function respondWithReplies(): void {
  world.mockLlm.respond(async ({ body }, response) => {
    const isArabic = JSON.stringify(body).includes("عربي");
    for (const part of wholeStream([...(isArabic ? arabic : english)])) await response.write(part);
    response.end();
  });
}

/** The page's own. */
declare const getComputedStyle: (element: unknown) => { getPropertyValue(name: string): string };

const stylesOf = (parts: Locator, property: string): Promise<string[]> =>
  parts.evaluateAll((found, name) => found.map((part) => getComputedStyle(part).getPropertyValue(name)), property);
const styleOf = async (within: Locator, selector: string, property: string): Promise<string> =>
  (await stylesOf(within.locator(selector), property))[0] ?? "";

/** What makes each part look like what it is. */
async function expectLooks(reply: Locator): Promise<void> {
  const [size, title, section] = await Promise.all(
    [".p", ".level-1", ".level-2"].map(async (selector) =>
      Number.parseFloat(await styleOf(reply, selector, "font-size")),
    ),
  );
  expect([(title ?? 0) > (section ?? 0), (section ?? 0) > (size ?? 0)]).toEqual([true, true]);
  expect(Number(await styleOf(reply, ".level-3", "font-weight"))).toBeGreaterThanOrEqual(600);
  for (const code of ["pre code", ".p > code"])
    expect(await styleOf(reply, code, "font-family")).toContain("monospace");
  expect(await styleOf(reply, ".p > code", "background-color")).not.toBe("rgba(0, 0, 0, 0)");
  expect(await styleOf(reply, "ol", "list-style-type")).toBe("decimal");
  expect(await styleOf(reply, "ul", "list-style-type")).toMatch(/disc|circle/);
  expect(await styleOf(reply, ".task", "list-style-type")).toBe("none");
  expect(await styleOf(reply, "hr", "border-top-style")).toBe("solid");
  expect(await styleOf(reply, "blockquote", "border-inline-start-width")).toBe("3px");
  const sides = await stylesOf(reply.locator("td"), "text-align");
  expect(sides.slice(0, 3).map((side) => side.replace("-webkit-", ""))).toEqual(["left", "center", "right"]);
}

for (const colorScheme of someOf(["light", "dark"] as const)) {
  test(`every part of a reply looks like what it is: ${colorScheme}`, async () => {
    const { page, api, complaints } = await world.openAs("owner", "/app/companions", { colorScheme });
    await page.setViewportSize({ width: 1000, height: 1500 });
    const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
    for (const [language, question] of [
      ["english", "Tell me"],
      ["arabic", "عربي"],
    ] as const) {
      await page.goto(`${world.server.url}/app/companions/${ada.id}/playground`);
      await page.locator("companion-chat textarea").fill(question);
      await page.locator("companion-chat textarea").press("Enter");
      await page.locator(".row.assistant[data-state=done]").waitFor();
      const played = page.locator(".row.assistant .body").last();
      if (language === "english") await expectLooks(played);
      else expect(await styleOf(played, "ul", "direction")).toBe("rtl");
      expect(await findViolations(page)).toEqual([]);
      await keepScreenshot(page, `reply-playground-${language}-${colorScheme}`);

      await world.say(ada.embed_token, question);
      await page.goto(`${world.server.url}/app/conversations`);
      await page.getByRole("link", { name: "Ada" }).first().click();
      await page.locator(".reply td").first().waitFor();
      if (language === "english") await expectLooks(page.locator(".reply").last());
      await keepScreenshot(page, `reply-transcript-${language}-${colorScheme}`);

      const { page: visitor, close } = await world.open({
        colorScheme,
        viewport: { width: 460, height: 1500 },
        ...(language === "arabic" ? { locale: "ar" } : {}),
      });
      await visitor.goto(`${world.server.url}/c/${ada.embed_token}`);
      await visitor.locator("companion-chat textarea").fill(question);
      await visitor.keyboard.press("Enter");
      await visitor.locator(".row.assistant[data-state=done]").waitFor();
      const shown = visitor.locator(".row.assistant .body").last();
      if (language === "english") await expectLooks(shown);
      expect(await findViolations(visitor)).toEqual([]);
      await keepScreenshot(visitor, `reply-widget-${language}-${colorScheme}`);
      await close();
    }
    expect(complaints).toEqual([]);
  });
}

test("replies made to freeze the page are drawn", async () => {
  const freezing = [
    `# ${" ".repeat(8_000)}x\u2028y`,
    "\u2028[a](".repeat(2_000),
    `[a](${" ".repeat(8_000)}x`,
    "~~~ ".repeat(2_000),
  ];
  const { page, api } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  world.mockLlm.respond(async (_, response) => {
    for (const part of wholeStream([...freezing.flatMap((text) => [text, "\n\n"]), "The end."]))
      await response.write(part);
    response.end();
  });
  await world.say(ada.embed_token, "Freeze");
  respondWithReplies();
  await page.goto(`${world.server.url}/app/conversations`);
  await page.getByRole("link", { name: "Ada" }).first().click();
  const end = page.getByRole("log").getByText("The end.");
  await end.waitFor();
  expect(await end.count()).toBe(1);
});

test("what is meant for the eye is named, not read out", async () => {
  const { page, api } = await world.openAs("owner", "/app/companions");
  const ada = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  await page.goto(`${world.server.url}/c/${ada.embed_token}`);
  await page.locator("companion-chat .unseen[role=status]").waitFor({ state: "attached" });
  await page.evaluate(`(() => {
    window.heard = [];
    const status = document.querySelector("companion-chat").shadowRoot.querySelector(".unseen[role=status]");
    new MutationObserver((changes) => {
      for (const change of changes) for (const node of change.addedNodes) window.heard.push(node.textContent);
    }).observe(status, { childList: true });
  })()`);
  await page.locator("companion-chat textarea").fill("Tell me");
  await page.keyboard.press("Enter");
  await page.locator(".row.assistant[data-state=done]").waitFor();
  const heard = (await page.evaluate<string[]>("window.heard")).join(" ");
  expect(heard).toContain("A paragraph with bold, slanted, strong, gone, code, © <entities> and a link.");
  expect(heard).toContain(
    "1. First, install it: Code block 2. Then choose one thing, or another and its detail 3. Done",
  );
  expect(heard).toContain("☑ written ☐ tested Quoted, once. And twice. Table");
  expect(heard).not.toMatch(/curl|Apples|--|\*|`/);
  // What was only named can still be read, and reached by keyboard.
  const code = page.getByRole("group", { name: "Code block" });
  await code.focus();
  expect(await code.innerText()).toContain("curl -fsS");
  expect(await page.getByRole("group", { name: "Table" }).locator("td").count()).toBe(6);
});
