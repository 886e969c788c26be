/** The example of an inbox of one's own, run as its README says, with its page in a browser. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startTestServer, type TestServer } from "../support/app.ts";
import { launchBrowser, openPage } from "../support/browser.ts";
import { chat } from "../support/chat.ts";
import { installClientPackage } from "../support/client-package.ts";
import { eventually } from "../support/eventually.ts";
import { handoffSettings } from "../support/people-world.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary.ts";

const example = join(import.meta.dir, "../../examples/inbox");
let directory: TemporaryDirectory;
let server: TestServer;
let companion: Awaited<ReturnType<TestServer["createCompanion"]>>;
let inbox: Bun.Subprocess<"ignore", "pipe", "inherit">;
let address: string;
let browser: Browser;

beforeAll(async () => {
  directory = temporaryDirectory();
  cpSync(example, directory.path, { recursive: true });
  await installClientPackage(directory.path);
  server = await startTestServer();
  const account = await server.createAccount();
  const { key } = await server.createKey(account, ["conversations:read", "conversations:reply"]);
  companion = await server.createCompanion({ name: "Ada", handoff: { ...handoffSettings, when: "present" } }, account);
  inbox = Bun.spawn(["node", directory.file("server.mjs")], {
    env: { PATH: process.env.PATH ?? "", BASE_URL: server.url, API_KEY: key, PORT: "0" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = inbox.stdout.getReader();
  address = new TextDecoder().decode((await reader.read()).value).trim();
  reader.releaseLock();
  browser = await launchBrowser();
});
afterAll(async () => {
  inbox.kill();
  await inbox.exited;
  await server.close();
  directory[Symbol.dispose]();
});

const visitor = { session_id: crypto.randomUUID() };
const say = (message: string) => chat(server.url, companion.embedToken, { message, ...visitor });
const ask = async () => {
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(visitor) };
  const response = await fetch(`${server.url}/api/embed/${companion.embedToken}/person`, sent);
  return (await response.json()) as { state: string; available: boolean };
};

test("a person is there while the page is open, sees who waits, takes, writes and releases", async () => {
  expect(await ask()).toMatchObject({ available: false });
  const { page, complaints } = await openPage(browser);
  await page.goto(address);
  await eventually(async () => (await ask()).state === "waiting", { what: "somebody to be available" });
  await say("Where is my parcel?");
  await page.getByRole("button", { name: "waiting" }).click();
  await page.getByText("Visitor: Where is my parcel?").waitFor();

  await page.getByRole("button", { name: "Take" }).click();
  await page.getByRole("button", { name: "person (Grace)" }).waitFor();
  await page.getByLabel("Message").fill("It arrives tomorrow.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Grace: It arrives tomorrow.").waitFor();
  expect(await page.getByLabel("Message").inputValue()).toBe("");
  expect((await say("Thank you!")).text).toBe("It arrives tomorrow.");
  await page.getByText("Visitor: Thank you!").waitFor();

  await page.getByRole("button", { name: "Release" }).click();
  await page.getByRole("button", { name: "companion" }).waitFor();
  expect((await say("And you are?")).text).toBe("You said: And you are?");
  expect(complaints).toEqual([]);
  await page.close();
  await eventually(async () => (await ask()).available === false, { what: "nobody to be there" });
});

test("a page that is not signed in gets nothing", async () => {
  expect((await fetch(`${address}/events`)).status).toBe(401);
  expect((await fetch(`${address}/conversations/x/take`, { method: "POST" })).status).toBe(401);
});
