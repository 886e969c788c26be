/** The example of a website with a sign-in, in a browser: each visitor finds their own conversation, and nobody else's. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { startTestServer, type TestServer } from "../support/app.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { createWebsiteKey } from "../support/visitor-keys.ts";
import { widgetOn } from "../support/widget-world.ts";

const program = join(import.meta.dir, "../../examples/signed-in/server.mjs");
let server: TestServer;
let browser: Browser;
let key: string;
let companionId: string;
let site: Bun.Subprocess<"ignore", "pipe", "inherit">;
let address: string;

beforeAll(async () => {
  server = await startTestServer();
  const account = await server.createAccount();
  ({ key } = await server.createKey(account));
  const companion = await server.createCompanion(
    { visitorAuth: "optional", systemPrompt: "You talk to {{visitor.name}}, on {{visitor.attributes.plan}}." },
    account,
  );
  companionId = companion.id;
  const made = await createWebsiteKey(server.url, key);
  site = Bun.spawn([process.execPath, program], {
    env: {
      BASE_URL: server.url,
      EMBED_TOKEN: companion.embedToken,
      COMPANION_ID: companionId,
      VISITOR_KEY_ID: made.id,
      VISITOR_KEY_SECRET: new TextDecoder().decode(made.signWith as Uint8Array),
      PORT: "0",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  address = await firstLine(site.stdout);
  browser = await launchBrowser();
});
afterAll(async () => {
  site.kill();
  await site.exited;
  await server.close();
});

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { value } = await stream.getReader().read();
  return new TextDecoder().decode(value).trim();
}

async function signIn(page: Page, name: string) {
  await page.getByRole("button", { name: `Sign in as ${name}` }).click();
  await page.getByText(`You are ${name}.`).waitFor();
  const widget = widgetOn(page);
  await widget.open();
  return widget;
}

async function signOut(page: Page) {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("No one is signed in.").waitFor();
}

test("each visitor finds their own conversation, and the next one at this browser sees nothing of it", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(address);
  const adas = await signIn(page, "Ada");
  await adas.askWhenKnown("I am the first");
  await adas.log.getByText("You said: I am the first").waitFor();
  await signOut(page);

  const bos = await signIn(page, "Bo");
  expect(await bos.log.innerText()).not.toContain("I am the first");
  await bos.askWhenKnown("I am the second");
  await bos.log.getByText("You said: I am the second").waitFor();

  const prompts = server.mockLlm.requests.map(({ body }) => Object(body["messages"])[0].content);
  expect(prompts).toEqual(["You talk to Ada, on pro.", "You talk to Bo, on free."]);
  const conversations = await Promise.all(["42", "43"].map(readConversations));
  expect(conversations).toMatchObject([
    [{ visitor_id: null, visitor: { sub: "42", name: "Ada", attributes: { plan: "pro" } }, message_count: 2 }],
    [{ visitor_id: null, visitor: { sub: "43", name: "Bo", attributes: { plan: "free" } }, message_count: 2 }],
  ]);
  expect(complaints).toEqual([]);
});

async function readConversations(sub: string): Promise<unknown> {
  const response = await fetch(`${server.url}/api/conversations?companion_id=${companionId}&visitor_sub=${sub}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return Object(await response.json()).data;
}

test("signs nobody in from another website, and gives a token only to who is signed in", async () => {
  const signIn = (site: string) =>
    fetch(`${address}/sign-in?user=42`, { method: "POST", headers: { "sec-fetch-site": site }, redirect: "manual" });
  expect((await signIn("cross-site")).status).toBe(403);
  expect((await fetch(`${address}/visitor-token`)).status).toBe(401);
  const cookie = (await signIn("same-origin")).headers.get("set-cookie")?.split(";")[0] ?? "";
  const response = await fetch(`${address}/visitor-token`, { headers: { cookie } });
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.text()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
});
