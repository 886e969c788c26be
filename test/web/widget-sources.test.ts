/** What replies cite, as visitors of the widget and of a companion's own page see it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../support/app.ts";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot, launchBrowser, openPage } from "../support/browser.ts";
import { indexText } from "../support/index-text.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { type Widget, widgetOn } from "../support/widget-world.ts";

const address = "https://library.example/terms?a=1&b=2";
const question = "For how long are bicycles lent?";

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer(), launchBrowser()]);
});
afterAll(async () => {
  await server.close();
});

function say(text: string): void {
  server.mockLlm.respond(async (_request, response) => {
    for (const part of wholeStream(text.split(/(?<=[\s[])/))) await response.write(part);
    response.end();
  });
}

/** A companion with three sources: a web page of two passages, a file with pages, and one with an address not to follow. */
async function makeLibrarian(settings: Parameters<TestServer["createCompanion"]>[0] = {}) {
  const companion = await server.createCompanion({ ...settings, greeting: "Ask me about bicycles." });
  const { store } = server.services;
  const passages = ["Bicycles are lent for two weeks.", "Bicycles are brought back on Mondays."];
  await indexText(store, companion, { title: "Lending *terms* [2026] & more", url: address, passages });
  const found = [{ text: "A lock comes with bicycles.", page: 12 }];
  await indexText(store, companion, { title: "Handbook of the library.pdf", passages: found });
  const url = "javascript:alert(document.domain)";
  await indexText(store, companion, { title: "A page of somebody else", url, passages: ["Bicycles are blue."] });
  return companion;
}

async function openHosted(token: string, options: Parameters<typeof openPage>[1] = {}) {
  const { page, complaints, close } = await openPage(browser, options);
  const files: string[] = [];
  page.on("request", (request) => files.push(new URL(request.url()).pathname));
  await page.goto(`${server.url}/c/${token}`);
  const widget = widgetOn(page);
  await widget.input.waitFor();
  return {
    page,
    complaints,
    close,
    widget,
    loads: () => files.filter((path) => path.startsWith("/assets/sources.")).length,
  };
}

const listIn = (widget: Widget) => widget.replies.last().getByRole("list", { name: "Sources" });
const focusedText = (page: Page) =>
  page.evaluate('document.querySelector("companion-chat").shadowRoot.activeElement.textContent');

test("a reply's sources are a list in place of its footer, and its markers lead there, also after a reload", async () => {
  const companion = await makeLibrarian();
  const { page, complaints, widget, loads } = await openHosted(companion.embedToken);
  expect(loads()).toBe(0);
  say(
    "Bicycles are lent for **two weeks** [1], back on a Monday [2], with a lock [3][4].\n\n```\nlend [1]\n```\n\nAsk [9] us [1]!",
  );
  await widget.ask(question);
  await widget.replied();
  for (const isReloaded of [false, true]) {
    await listIn(widget).waitFor();
    const text = await widget.replies.last().innerText();
    expect(text).not.toContain("library.example");
    expect(text.match(/Lending \*terms\* \[2026\] & more/g)).toHaveLength(1);
    const entries = listIn(widget).getByRole("listitem");
    expect((await entries.allInnerTexts()).map((entry) => entry.replace(/\s+/g, " "))).toEqual([
      "1, 2 Lending *terms* [2026] & more",
      "3 Handbook of the library.pdf p. 12",
      "4 A page of somebody else",
    ]);
    const links = listIn(widget).getByRole("link");
    expect(await links.count()).toBe(1);
    const names = ["href", "target", "rel"];
    expect(await Promise.all(names.map((name) => links.getAttribute(name)))).toEqual([
      address,
      "_blank",
      "noopener noreferrer nofollow",
    ]);
    expect(await widget.replies.last().locator("code").innerText()).toBe("lend [1]");
    const markers = widget.replies.last().locator("button.cite");
    expect(await markers.allInnerTexts()).toEqual(["1", "2", "3", "4", "1"]);
    await markers.nth(1).click();
    expect(await focusedText(page)).toBe("Lending *terms* [2026] & more");
    await widget.button("[3] Handbook of the library.pdf").press("Enter");
    expect(await focusedText(page)).toBe("Handbook of the library.pdf");
    expect(await findViolationsInState(page)).toEqual([]);
    expect(complaints).toEqual([]);
    if (isReloaded) break;
    await keepScreenshot(page, "sources-light");
    await page.reload();
  }
  // The same words go to the clipboard and to the website as ever.
  expect(await page.evaluate("Object.values(localStorage).join()")).toContain("[1] Lending");
});

test("sources are readable in the dark on a narrow screen, in forced colours, and from right to left", async () => {
  // The challenge makes the widget ask by the SDK.
  const companion = await makeLibrarian({ citations: "markers", challenge: "always" });
  const looks = {
    dark: { colorScheme: "dark", viewport: { width: 360, height: 740 } },
    forced: { forcedColors: "active", viewport: { width: 360, height: 740 } },
    rtl: { locale: "ar", viewport: { width: 360, height: 740 } },
  } as const;
  for (const [name, options] of Object.entries(looks)) {
    const { page, widget, close } = await openHosted(companion.embedToken, options);
    say(
      name === "rtl"
        ? "تُعار الدراجات لمدة أسبوعين [1] مع قفل [3]."
        : "Bicycles are lent for two weeks [1], with a lock [3][4], and on Mondays they are brought back [2].",
    );
    await widget.ask(question);
    await widget.replies.last().locator(".sources").waitFor();
    expect(await findViolationsInState(page)).toEqual([]);
    expect(await widget.panel.boundingBox()).toMatchObject({ x: 0, width: 360 });
    await keepScreenshot(page, `sources-${name}`);
    await close();
  }
});

test("nothing is loaded and shown where there is nothing to cite, or it is not to be shown", async () => {
  const plain = await server.createCompanion();
  const silent = await makeLibrarian({ citations: "none" });
  for (const { embedToken } of [plain, silent]) {
    const { page, widget, loads, close } = await openHosted(embedToken);
    say("Two weeks.");
    await widget.ask(question);
    await widget.replied();
    await page.reload();
    await widget.replied();
    expect(await widget.replies.last().innerText()).toBe("Two weeks.");
    expect([await widget.replies.last().locator(".sources").count(), loads()]).toEqual([0, 0]);
    await close();
  }
});
