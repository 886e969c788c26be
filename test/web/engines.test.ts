/** The flows of visitors and owners in Firefox and WebKit: each once, since Chromium has them in detail. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { createAccountWithPassword, quickSignIns, testPassword } from "../support/dashboard.ts";
import type { BrowserPage } from "../support/engines/browser-page.ts";
import { openFirefox } from "../support/engines/firefox.ts";
import { openWebKit } from "../support/engines/webkit.ts";
import { eventually } from "../support/eventually.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";

const reply =
  "## Hours\n\n| Day | Open |\n|---|---|\n| Saturday | **9 to 14** |\n\nSee [our page](https://shop.example).";

let server: TestServer;
let site: ReturnType<typeof Bun.serve>;
let companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
const email = "owner@shop.example";

beforeAll(async () => {
  server = await startTestServer({ signInPace: quickSignIns });
  const account = await createAccountWithPassword(server, { email });
  companion = await server.createCompanion({ name: "Berta" }, account);
  server.mockLlm.respond(async (request, response) => {
    if (request.userText.includes("fail")) return response.send(500, { "Content-Type": "application/json" }, "{}");
    for (const part of wholeStream(reply.split(/(?<=\s)/))) await response.write(part);
    response.end();
  });
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>
    <style>body { transform: scale(0.99); filter: grayscale(0.1); min-height: 3000px }</style><h1>Shop</h1>
    <script src="${server.url}/widget.js" data-token="${companion.embedToken}"></script>`;
  site = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: () => new Response(html, { headers: { "Content-Type": "text/html" } }),
  });
});
afterAll(async () => {
  await site.stop(true);
  await server.close();
});

const engines = { Firefox: openFirefox, WebKit: openWebKit };

for (const [name, openEngine] of Object.entries(engines)) {
  describe(name, () => {
    let page: BrowserPage;
    beforeAll(async () => {
      page = await openEngine();
    });
    // Where it did not start, that is what failed.
    afterAll(() => page?.[Symbol.asyncDispose]());

    const shadow = `const root = document.querySelector("companion-chat")?.shadowRoot;`;
    const holds = (body: string) =>
      eventually(() => page.run<boolean>(`${shadow} return Boolean(${body});`), {
        what: `${name}: ${body}`,
        everyMs: 50,
      });
    const type = (text: string, key = "Enter", then = "") =>
      page.run(`${shadow}
        const field = root.querySelector("textarea");
        field.focus();
        field.value = ${JSON.stringify(text)};
        field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        field.dispatchEvent(new KeyboardEvent("keydown", { key: ${JSON.stringify(key)}, bubbles: true, composed: true }));
        ${then}
        return true;`);
    const click = (selector: string) =>
      page.run(`${shadow} root.querySelector(${JSON.stringify(selector)}).click(); return true;`);
    const shows = (text: string) => holds(`root?.textContent.includes(${JSON.stringify(text)})`);

    test("a visitor opens the chat, reads a reply, and finds all of it again after a reload", async () => {
      await page.open(site.url.href);
      await holds(`root?.querySelector(".launcher")`);
      // In sight although the page's body is transformed, and nothing is over it.
      await holds(`(() => {
        const box = root.querySelector(".launcher").getBoundingClientRect();
        const isInside = box.width > 40 && box.bottom <= innerHeight && box.right <= innerWidth && box.top > 0;
        return isInside && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.localName === "companion-chat";
      })()`);
      await click(".launcher");
      await holds(`root.querySelector("textarea")`);
      await type("When are you open?");
      await holds(`root.querySelector(".row.assistant[data-state=done] table")`);
      expect(
        await page.run<string>(
          `${shadow} return root.querySelector(".row.assistant[data-state=done] .body").innerText;`,
        ),
      ).not.toContain("|");
      await type("This must fail");
      await shows("Not delivered");
      await type("What I have not se", "a");
      await page.open(site.url.href);
      await holds(`root?.querySelector("textarea") || root?.querySelector(".launcher")`);
      await holds(`(() => {
        if (!root.querySelector(".panel")?.offsetHeight) root.querySelector(".launcher").click();
        return root.querySelector("textarea")?.value === "What I have not se";
      })()`);
      await holds(`root.querySelector(".row.assistant table")`);
      await shows("Not delivered");
      // A reply to a panel that is closed is counted until that is opened.
      await type("When are you open?", "Enter", `root.querySelector(".launcher").click();`);
      await holds(`root.querySelector(".launcher").dataset.unread === "1"`);
      await click(".launcher");
      await holds(`root.querySelector(".launcher").dataset.unread === ""`);
    });

    test("a companion's own page answers", async () => {
      await page.open(`${server.url}/c/${companion.embedToken}`);
      await holds(`root?.querySelector("textarea")`);
      await type("When are you open?");
      await holds(`root.querySelector(".row.assistant[data-state=done] table")`);
      expect(await page.run<string>("return document.title;")).toContain("Berta");
    });

    test("an owner signs in, reads conversations, tries the companion and changes it", async () => {
      const inPage = (body: string) =>
        eventually(() => page.run<boolean>(`return Boolean(${body});`), { what: `${name}: ${body}`, everyMs: 50 });
      const heading = (text: string) =>
        inPage(`[...document.querySelectorAll("h1")].some((each) => each.textContent === ${JSON.stringify(text)})`);
      const fill = (selector: string, text: string) =>
        page.run(`
          const field = document.querySelector(${JSON.stringify(selector)});
          field.value = ${JSON.stringify(text)};
          field.dispatchEvent(new Event("input", { bubbles: true }));
          return true;`);
      await page.open(`${server.url}/app`);
      await heading("Sign in");
      await fill("input[type=email]", email);
      await fill("input[type=password]", testPassword);
      await page.run(`document.querySelector("form").requestSubmit(); return true;`);
      await inPage(`document.querySelector("nav[aria-label=Main]")`);
      await page.open(`${server.url}/app/conversations`);
      await inPage(`document.querySelector("main")?.textContent.includes("When are you open?")`);
      await page.open(`${server.url}/app/companions/${companion.id}`);
      await inPage(`document.querySelector("h1")?.textContent.startsWith("Berta")`);
      await page.open(`${server.url}/app/companions/${companion.id}/appearance`);
      await holds(`root?.querySelector(".panel")?.offsetHeight > 100`);
      await page.open(`${server.url}/app/companions/${companion.id}/playground`);
      await holds(`root?.querySelector("textarea")`);
      await type("When are you open?");
      await holds(`root.querySelector(".row.assistant[data-state=done] table")`);
      await page.open(`${server.url}/app/companions/${companion.id}/settings`);
      await inPage(`document.querySelector("main form input")?.value.startsWith("Berta")`);
      await fill("main form input", `Berta in ${name}`);
      await inPage(
        `[...document.querySelectorAll("button")].find((each) => each.textContent === "Save")?.click() ?? true`,
      );
      await heading(`Berta in ${name}`);
      await fill("main form input", "Berta");
      await inPage(
        `[...document.querySelectorAll("button")].find((each) => each.textContent === "Save")?.click() ?? true`,
      );
      await heading("Berta");
      const kept = await server.services.store.companions.find(companion.accountId, companion.id);
      expect(kept?.name).toBe("Berta");
    });
  });
}
