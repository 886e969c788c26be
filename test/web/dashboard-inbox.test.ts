/** The inbox in the dashboard: who waits is seen at once, taken by one, answered, noted and given back; drafts survive. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ApiClient, apiClient } from "../support/api-client.ts";
import { examine, hasCount } from "../support/browser.ts";
import { chooseFromAccountMenu, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";
import { eventually } from "../support/eventually.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).click();
const composer = (page: Page) => page.getByLabel("Message to the visitor");
const rows = (page: Page) => page.getByRole("navigation", { name: "Inbox" }).getByRole("listitem");
const transcript = (page: Page) => page.getByRole("log", { name: "Transcript" });

async function createCompanion(api: ApiClient, fields: object = {}) {
  const handoff = { mode: "any", when: "always" };
  return (await api.call("POST", "/api/companions", { name: "Ada", handoff, ...fields })).json;
}

/** A visitor who has said something, and may ask for a person. */
async function meet(companion: { embed_token: string }, message = "Where is my parcel?") {
  const [session_id, visitor_id] = [crypto.randomUUID(), crypto.randomUUID()];
  const client = apiClient(world.server.url, null);
  const base = `/api/embed/${companion.embed_token}`;
  const say = (message: string) => client.call("POST", `${base}/chat`, { session_id, visitor_id, message });
  await say(message);
  return { say, ask: () => client.call("POST", `${base}/person`, { session_id, visitor_id }), session_id };
}

/** Of the account's only conversation. */
async function findId(api: ApiClient): Promise<string> {
  return String((await api.call("GET", "/api/conversations")).json.data?.[0]?.id);
}

async function readMessages(api: ApiClient, id: string) {
  const { messages } = (await api.call("GET", `/api/conversations/${id}`)).json;
  return messages as { text: string; author?: object }[];
}

test("a visitor asks for a person, who takes the conversation, answers it, and gives it back", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const { page, api, complaints } = owner;
  const companion = await createCompanion(api);
  await page.goto(`${world.server.url}/app/inbox`);
  await page.getByText("All quiet").waitFor();
  const visitor = await meet(companion);
  expect((await visitor.ask()).json).toMatchObject({ state: "waiting" });
  await rows(page).getByText("Waiting 1 min").waitFor();
  // Phones, whose menu is closed, show it in the bar.
  const wide = page.viewportSize() ?? { width: 1280, height: 860 };
  await page.setViewportSize({ width: 360, height: 740 });
  await page
    .getByRole("banner")
    .getByRole("link", { name: /Inbox\s*1 waiting/ })
    .waitFor();
  await page.setViewportSize(wide);
  await eventually(async () => (await page.title()).startsWith("(1) Inbox"), { what: "the count in the title" });
  await rows(page).getByRole("link").click();
  await transcript(page).getByText("Where is my parcel?", { exact: true }).waitFor();
  await page.getByText("Waiting for a person ·").waitFor();
  await examine(page, "dashboard-inbox");

  await press(page, "Take over");
  await page.getByText("You took it").waitFor();
  // The event with the message comes before the answer to its own request.
  await page.route("**/messages", async (route) => {
    const response = await route.fetch();
    await page.getByText("Sending…").waitFor({ state: "detached" });
    expect(await transcript(page).getByText("It arrives tomorrow.").count()).toBe(1);
    await route.fulfill({ response });
  });
  await composer(page).fill("It arrives tomorrow.");
  const answered = page.waitForResponse("**/messages");
  await composer(page).press("Enter");
  await transcript(page).getByText("It arrives tomorrow.").waitFor();
  await answered;
  await hasCount(transcript(page).getByText("It arrives tomorrow."), 1);
  const kept = (await visitor.say("Thank you!")).text;
  expect(kept).toContain("It arrives tomorrow.");
  await transcript(page).getByText("Thank you!").waitFor();

  await press(page, "Details, notes and tags");
  await page.getByRole("textbox", { name: "Notes" }).fill("Parcel 4711");
  await press(page, "Add a note");
  await page.getByRole("list", { name: "Notes" }).getByText("Parcel 4711").waitFor();
  await page.getByLabel("Tags", { exact: true }).fill("Parcels");
  await press(page, "Add");
  await rows(page).getByText("parcels").waitFor();
  await page.getByLabel("Assigned to").selectOption({ label: "You" });
  await page.getByText("changed the assignee").waitFor();
  await examine(page, "dashboard-inbox-details");

  await press(page, "Close");
  await page.getByRole("status").getByText("Ada is answering.").waitFor();
  await rows(page).getByText("Closed").waitFor();
  const { data } = (await api.call("GET", "/api/conversations")).json;
  expect(data).toMatchObject([{ state: "companion", status: "closed", tags: ["parcels"], assignee: owner.accountId }]);
  expect(complaints).toEqual([]);
});

test("two colleagues: one is shown what the other does, and no visitor gets two answers", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const companion = await createCompanion(owner.api);
  const visitor = await meet(companion);
  await visitor.ask();
  const id = await findId(owner.api);
  const grace = await world.openMember(owner, `/app/inbox?c=${id}`);
  await owner.page.goto(`${world.server.url}/app/inbox?c=${id}`);
  await press(grace.page, "Take over");
  await grace.page.getByText("You took it").waitFor();
  await owner.page.getByText("took it").waitFor();
  await composer(grace.page).pressSequentially("Let me");
  await owner.page.getByText("Grace is typing…").first().waitFor();

  await composer(owner.page).fill("I am on it.");
  await composer(owner.page).press("Enter");
  const held = owner.page.getByRole("dialog", { name: "Grace has this conversation" });
  await held.getByRole("button", { name: "Back to my text" }).click();
  expect(await composer(owner.page).inputValue()).toBe("I am on it.");
  await press(owner.page, "Take over…");
  await owner.page.getByRole("dialog").getByRole("button", { name: "Take over" }).click();
  await owner.page.getByText("You took it").waitFor();
  // It is closed once all is done; before, it keeps the keyboard.
  await owner.page.getByRole("dialog").waitFor({ state: "detached" });
  await composer(owner.page).press("Enter");
  await transcript(owner.page).getByText("I am on it.").waitFor();

  // Written before she has seen it.
  await grace.page.context().setOffline(true);
  await grace.page.getByText("The connection is lost.").waitFor();
  await owner.api.call("POST", `/api/conversations/${id}/messages`, {
    ...{ text: "It left today.", client_id: crypto.randomUUID() },
  });
  await owner.api.call("POST", `/api/conversations/${id}/release`, {});
  await composer(grace.page).fill("Let me see.");
  await composer(grace.page).press("Enter");
  await grace.page.context().setOffline(false);
  const refusal = grace.page.getByRole("dialog", { name: "A colleague just replied" });
  await refusal.getByText("It left today.").waitFor();
  await refusal.getByRole("button", { name: "Send anyway" }).click();
  // As sent, and for a moment as stored too.
  await eventually(async () => (await transcript(grace.page).getByText("Let me see.").count()) === 1);
  await grace.page.getByText("Sending…").waitFor({ state: "detached" });
  const written = await readMessages(owner.api, id);
  expect(written.filter(({ author }) => author).map(({ text }) => text)).toEqual([
    "I am on it.",
    "It left today.",
    "Let me see.",
  ]);
  expect([...owner.complaints, ...grace.complaints].filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text))).toEqual(
    [],
  );
});

test("a draft outlives reloading, signing out and a lost connection, and is sent once", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const companion = await createCompanion(owner.api);
  await (await meet(companion)).ask();
  const id = await findId(owner.api);
  const { page } = owner;
  await page.goto(`${world.server.url}/app/inbox?c=${id}`);
  await composer(page).fill("Your parcel");
  await page.reload();
  await eventually(async () => (await composer(page).inputValue()) === "Your parcel", { what: "the draft" });
  // The server has the message, but its answer is lost.
  let sent = 0;
  await page.route("**/messages", async (route) => {
    if (++sent > 1) return await route.continue();
    await route.fetch();
    await route.abort();
  });
  await composer(page).fill("Your parcel is here.");
  await composer(page).press("Enter");
  await page.getByText("Your message is saved, and we keep trying to send it.").waitFor();
  await page.reload();
  await hasCount(transcript(page).getByText("Your parcel is here."), 1);
  await page.getByText("Sending…").waitFor({ state: "detached" });
  const arrived = (await readMessages(owner.api, id)).filter(({ text }) => text === "Your parcel is here.");
  expect(arrived).toHaveLength(1);
  expect(sent).toBe(2);

  // As joined from several that were refused.
  const long = "x".repeat(4001);
  // In one step: the page may draw between two, and the field has its draft again.
  await composer(page).evaluate((field, text) => {
    Object.assign(field, { value: text });
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, long);
  await composer(page).press("Enter");
  await page.getByRole("alert").getByText("Over the limit by 1:").waitFor();
  expect(await composer(page).inputValue()).toHaveLength(4001);
  await composer(page).fill("And one more");
  await chooseFromAccountMenu(page, "Sign out");
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await page.evaluate("JSON.stringify(localStorage)")).toContain("And one more");
});

test("the inbox is there in a browser that stores nothing", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz", { isAlone: true });
  await createCompanion(api, { handoff: { mode: "any", when: "present" } });
  await page.addInitScript(
    `Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError") } })`,
  );
  await page.goto(`${world.server.url}/app/inbox`);
  await page.getByRole("switch", { name: "Available" }).waitFor();
  await page.getByText("All quiet").waitFor();
  expect(complaints).toEqual([]);
});

test("somebody is there for visitors when they say so, on all their pages", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const companion = await createCompanion(owner.api, { handoff: { mode: "any", when: "present" } });
  const { page } = owner;
  await page.goto(`${world.server.url}/app/companions`);
  const config = `/api/embed/${companion.embed_token}`;
  const isOpen = async () =>
    Object(Object((await apiClient(world.server.url, null).call("GET", config)).json).handoff).available === true;
  expect(await isOpen()).toBe(false);
  const available = page.getByRole("switch", { name: "Available" });
  expect(await available.getAttribute("aria-checked")).toBe("false");
  await available.click();
  await page.getByRole("switch", { name: "Available", checked: true }).waitFor();
  await eventually(isOpen, { what: "somebody to be available" });
  const other = await world.openMember(owner, "/app/inbox");
  await other.page.getByText("Also present: A colleague").waitFor();
  await available.click();
  await other.page.getByText("Also present").waitFor({ state: "detached" });
  await eventually(async () => !(await isOpen()), { what: "nobody to be available" });
});

test("tabs of a browser share one stream, and another tab goes on with it where its reader is closed", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const companion = await createCompanion(owner.api);
  const visitor = await meet(companion);
  await visitor.ask();
  let streams = 0;
  owner.page.context().on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/inbox/events") streams++;
  });
  const inbox = `${world.server.url}/app/inbox`;
  await owner.page.goto(inbox);
  await rows(owner.page).getByText("Waiting 1 min").waitFor();
  const second = await owner.page.context().newPage();
  await second.goto(inbox);
  await rows(second).getByText("Waiting 1 min").waitFor();
  const id = await findId(owner.api);
  await owner.api.call("POST", `/api/conversations/${id}/take`, {});
  for (const page of [owner.page, second]) await rows(page).getByText("You", { exact: true }).waitFor();
  expect(streams).toBe(1);
  await owner.page.close();
  await owner.api.call("POST", `/api/conversations/${id}/release`, { close: true });
  await rows(second).getByText("Closed").waitFor();
  expect(streams).toBe(2);
});
