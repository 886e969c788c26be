/** Tools in the dashboard: added, tried, changed, given another secret, deleted; and their calls, also in transcripts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { Webhook } from "standardwebhooks";
import { choose, examine, hasCount, holds } from "../support/browser.ts";
import { type DashboardWorld, openDashboardWorld, type SignedInPage } from "../support/dashboard-world.ts";
import { startStateless } from "../support/mcp-servers.ts";

/** The owner's server. */
let answer: () => Response = () => Response.json({ state: "sent", parcels: 2 });
const received: { headers: Record<string, string>; body: string }[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    received.push({ headers: request.headers.toJSON(), body: await request.text() });
    return answer();
  },
});
const address = `http://127.0.0.1:${receiver.port}/orders`;
const mcp = startStateless({});

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld({ COMPANIOND_PRIVATE_TARGETS: "127.0.0.1" });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await Promise.all([receiver.stop(true), mcp.stop()]);
});

interface Opened extends SignedInPage {
  companion: { id: string; embed_token: string };
  /** Of the companion's tools, in the API. */
  path: string;
}

async function openTools(tools: readonly object[] = []): Promise<Opened> {
  const signedIn = await world.openAs("owner", "/healthz");
  const { page, api } = signedIn;
  const companion = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const path = `/api/companions/${companion.id}/tools`;
  for (const tool of tools) await api.call("POST", path, tool);
  await page.goto(`${world.server.url}/app/companions/${companion.id}/tools`);
  // Not spread: its complaints are counted when they are read.
  return Object.assign(Object.create(signedIn) as SignedInPage, { companion, path });
}

const order = {
  name: "find_order",
  title: "Find an order",
  description: "Finds an order by its number.",
  parameters: { type: "object", properties: { number: { type: "string", enum: ["4711"] } }, required: ["number"] },
  url: address,
  headers: { "X-Shop": "7" },
};

const dialogOf = (page: Page) => page.getByRole("dialog");
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const inDialog = (page: Page, name: string) => dialogOf(page).getByRole("button", { name, exact: true }).click();

test("a tool is added with parameters in rows; its secret is shown once, and signs what is sent", async () => {
  const { page, api, path, complaints } = await openTools();
  await page.getByText("No tools yet").waitFor();
  await press(page, "Add a tool");
  await inDialog(page, "Add");
  await dialogOf(page).getByText("Enter the URL.").waitFor();
  await dialogOf(page).getByText("Enter a name.").waitFor();
  await holds(page, "document.activeElement?.getAttribute('aria-invalid') === 'true'");
  await examine(page, "dashboard-tool-problems");
  await page.getByLabel("URL").fill(address);
  await page.getByLabel("Name", { exact: true }).fill("find_order");
  await page.getByLabel("Title").fill("Find an order");
  await page.getByLabel("Description", { exact: true }).fill("Finds an order by its number.");
  await press(page, "Add a parameter");
  await holds(page, "document.activeElement?.ariaLabel === 'Name of parameter 1'");
  await page.keyboard.type("number");
  await page.getByLabel("Description of parameter 1").fill("Six digits, on the invoice");
  await press(page, "Add a parameter");
  await page.getByLabel("Name of parameter 2").fill("parcels");
  await page.getByLabel("Type of parameter 2").selectOption("Whole number");
  await page.getByLabel("Required parameter 2").uncheck();
  await page.getByLabel("Ask the visitor before each call").check();
  await press(page, "Add a header");
  await page.getByLabel("Name of header 1").fill("X-Shop");
  await page.getByLabel("Value of header 1").fill("7");
  await examine(page, "dashboard-tool-new");
  await inDialog(page, "Add");

  await page.getByText("Copy this secret now").waitFor();
  const secret = await dialogOf(page).locator("code").first().innerText();
  await examine(page, "dashboard-tool-secret");
  await page.keyboard.press("Escape");
  await page.getByText("Copy this secret now").waitFor();
  await inDialog(page, "I have saved it");
  await dialogOf(page).waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(secret);
  expect((await api.call("GET", path)).json.data).toMatchObject([
    {
      ...{ name: "find_order", title: "Find an order", url: address, header_names: ["X-Shop"] },
      ...{ confirm: true, requires_visitor: false, timeout_ms: 10_000 },
      parameters: {
        type: "object",
        properties: {
          number: { type: "string", description: "Six digits, on the invoice" },
          parcels: { type: "integer" },
        },
        required: ["number"],
      },
    },
  ]);

  received.length = 0;
  await press(page, "Try… Find an order");
  await dialogOf(page).getByText("no one is asked first").waitFor();
  expect(JSON.parse(await page.getByLabel("Arguments").inputValue())).toEqual({ number: "", parcels: 0 });
  await page.getByLabel("Arguments").fill('{"number": "4711",\n  "parcels" 2}');
  await dialogOf(page).getByText("Not JSON yet: line 2, column 13: a colon is expected.").waitFor();
  expect(await page.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
  await page.getByLabel("Arguments").fill('{"number": 4711}');
  await inDialog(page, "Run");
  await dialogOf(page).getByText("The arguments are invalid").waitFor();
  await dialogOf(page).getByText("Nothing was sent.").waitFor();
  expect(received).toHaveLength(0);
  await page.getByLabel("Arguments").fill('{"number": "4711"}');
  await inDialog(page, "Run");
  await dialogOf(page).getByRole("status").getByText('"state": "sent"').waitFor();
  await examine(page, "dashboard-tool-tried");
  const [{ headers = {}, body = "" } = {}] = received;
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ data: { arguments: { number: "4711" } } });
  expect(headers["x-shop"]).toBe("7");

  answer = () => new Response("our stack trace", { status: 404 });
  await inDialog(page, "Run");
  const alert = dialogOf(page).getByRole("alert");
  await alert.getByText("The tool answered with status 404.").waitFor();
  await alert.getByText(`Check the URL: ${address}`).waitFor();
  expect(await page.content()).not.toContain("our stack trace");
  await examine(page, "dashboard-tool-failed");
  answer = () => Response.json({ state: "sent" });
  await page.keyboard.press("Escape");

  await choose(page, "Find an order", "New secret…");
  await inDialog(page, "Create new secret");
  await page.getByText("Copy this secret now").waitFor();
  const next = await dialogOf(page).locator("code").first().innerText();
  expect(next).toMatch(/^whsec_/);
  expect(next).not.toBe(secret);
  await inDialog(page, "I have saved it");
  expect(complaints).toEqual([]);
});

test("parameters that rows cannot say are edited as JSON, headers stay unless they are replaced, and others' changes are shown", async () => {
  const { page, api, path, complaints } = await openTools([order]);
  const [made] = (await api.call("GET", path)).json.data;
  const read = async () => (await api.call("GET", `${path}/${made?.id}`)).json;
  await choose(page, "Find an order", "Edit…");
  await page.getByLabel("JSON Schema").waitFor();
  expect(await page.getByRole("button", { name: "Fields" }).isDisabled()).toBe(true);
  await dialogOf(page).getByText("Uses more than fields can show").waitFor();
  await examine(page, "dashboard-tool-json");
  await page.getByLabel("JSON Schema").fill('{"type": "string"}');
  await dialogOf(page).getByText('Must be the schema of an object: "type": "object".').waitFor();
  await press(page, "Insert an example");
  expect(await page.getByLabel("JSON Schema").inputValue()).toContain('"enum"');
  await page.getByLabel("JSON Schema").fill('{"type": "object", "properties": {"number": {"type": "text"}}}');
  await inDialog(page, "Save");
  // The fault is found by the server, and shown with its place.
  await dialogOf(page)
    .getByText(/properties.*number.*type/)
    .waitFor();
  await page.getByLabel("JSON Schema").fill('{"type": "object", "properties": {"number": {"type": "string"}}}');
  await press(page, "Fields");
  expect(await page.getByLabel("Name of parameter 1").inputValue()).toBe("number");
  await inDialog(page, "Save");
  await dialogOf(page).waitFor({ state: "detached" });
  expect(await read()).toMatchObject({ header_names: ["X-Shop"], parameters: { properties: { number: {} } } });

  await choose(page, "Find an order", "Edit…");
  await dialogOf(page).getByText("X-Shop").waitFor();
  await press(page, "Replace headers");
  await inDialog(page, "Save");
  await dialogOf(page).getByText("Enter a value for every header").waitFor();
  await page.getByLabel("Value of header 1").fill("8");
  await page.getByLabel("Title").fill("Look up an order");
  await api.call("PATCH", `${path}/${made?.id}`, { timeout_ms: 5000 });
  await inDialog(page, "Save");
  const conflict = page.getByRole("dialog", { name: "Find an order was changed while you were editing" });
  await conflict.getByText("time limit").waitFor();
  await examine(page, "dashboard-tool-conflict");
  await conflict.getByRole("button", { name: "Keep mine" }).click();
  await hasCount(dialogOf(page), 0);
  expect(await read()).toMatchObject({ title: "Look up an order", timeout_ms: 5000 });
  received.length = 0;
  await api.call("POST", `${path}/${made?.id}/test`, { arguments: { number: "1" } });
  expect(received.map(({ headers }) => headers["x-shop"])).toEqual(["8"]);

  await choose(page, "Look up an order", "Edit…");
  await page.getByLabel("Title").fill("Lost");
  await page.keyboard.press("Escape");
  const question = page.getByRole("dialog", { name: "Discard your changes?" });
  await question.getByRole("button", { name: "Discard" }).click();
  await choose(page, "Look up an order", "Delete…");
  await inDialog(page, "Delete");
  await page.getByText("No tools yet").waitFor();
  expect((await api.call("GET", path)).json.data).toEqual([]);
  expect(complaints).toEqual([]);
});

test("an MCP server is added without a secret, lists its tools, and one of them is called", async () => {
  const { page, api, path, complaints } = await openTools();
  await press(page, "Add a tool");
  await page.getByLabel("Type").selectOption("MCP server");
  expect(await page.getByLabel("Verified visitors only").count()).toBe(0);
  await page.getByLabel("Ask the visitor before each call").check();
  await page.getByLabel("URL").fill(mcp.url);
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await page.getByLabel("Tools to use").fill("add\norder");
  await inDialog(page, "Add");
  await dialogOf(page).waitFor({ state: "detached" });
  await page.getByText("MCP server: add, order").waitFor();
  await page.getByRole("button", { name: "Actions for shop" }).click();
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Edit…", "Last calls", "Delete…"]);
  await page.keyboard.press("Escape");
  expect((await api.call("GET", path)).json.data).toMatchObject([
    { mcp_url: mcp.url, tools: ["add", "order"], confirm: true },
  ]);
  await press(page, "Try… shop");
  await page.getByLabel("Tool (2 offered)").selectOption("shop_add");
  await page.getByLabel("Arguments").fill('{"a": 2, "b": 3}');
  await inDialog(page, "Run");
  await dialogOf(page).getByRole("status").getByText("The sum is 5.").waitFor();
  await examine(page, "dashboard-tool-mcp");
  await page.keyboard.press("Escape");
  const [made] = (await api.call("GET", path)).json.data;
  await api.call("PATCH", `${path}/${made?.id}`, { tools: ["nothing"] });
  await page.reload();
  await press(page, "Try… shop");
  await dialogOf(page).getByText("The server offers none of the tools you chose").waitFor();
  expect(await page.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  await api.call("PATCH", `${path}/${made?.id}`, { mcp_url: address });
  await press(page, "Try… shop");
  await dialogOf(page).getByRole("alert").getByText("Its log may show more").waitFor();
  expect(complaints).toEqual([]);
});

test("what the model called is in the transcript and among the last calls, as text and never as markup", async () => {
  const { page, api, companion, complaints } = await openTools([order]);
  await choose(page, "Find an order", "Last calls");
  await dialogOf(page).getByText("No calls yet.").waitFor();
  await page.keyboard.press("Escape");
  const results = [Response.json({ state: "<img src=x onerror=alert(1)>" }), new Response(null, { status: 500 })];
  answer = () => results.shift() ?? Response.json({});
  await world.say(companion.embed_token, '[[call:find_order {"number":"4711"}]] [[call:find_order {"number":"4711"}]]');
  await choose(page, "Find an order", "Last calls");
  const calls = page.getByRole("list", { name: "Tool calls" }).getByRole("listitem");
  await hasCount(calls, 2);
  await calls.getByText("Failed", { exact: true }).click();
  await calls.getByText("The tool failed (status 500)").waitFor();
  await calls.getByText("Done", { exact: true }).click();
  await calls.getByText("<img src=x onerror=alert(1)>").waitFor();
  await examine(page, "dashboard-tool-calls");
  await calls.getByRole("link", { name: "Open conversation" }).first().click();
  await page.getByText("2 tool calls, 1 failed").click();
  const done = page.getByRole("log").getByRole("listitem").filter({ hasText: "done" });
  await done.getByText("Done", { exact: true }).click();
  await done.getByText('"number": "4711"').waitFor();
  await done.getByText("<img src=x onerror=alert(1)>").waitFor();
  expect(await page.locator("img").count()).toBe(0);
  await examine(page, "dashboard-tool-transcript");
  const conversations = (await api.call("GET", "/api/conversations")).json.data;
  expect(conversations).toHaveLength(1);
  expect(complaints).toEqual([]);
});

test("the list shows that it waits, says why it failed, and comes when it is tried again", async () => {
  const { page, api, path } = await openTools([{ ...order, requires_visitor: true, confirm: true }]);
  await page.getByText("Verified visitors only").waitFor();
  await page.getByText("Asks before each call").waitFor();
  await examine(page, "dashboard-tools");
  await page.route("**/tools?*", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
  await page.unroute("**/tools?*");
  await press(page, "Try again");
  await page.getByText("Find an order").first().waitFor();
  const [made] = (await api.call("GET", path)).json.data;
  await api.call("DELETE", `${path}/${made?.id}`);
  await choose(page, "Find an order", "Edit…");
  await dialogOf(page).getByRole("alert").waitFor();
  expect(await page.getByLabel("Title").count()).toBe(0);
});
