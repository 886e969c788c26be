/** People of the team in the dashboard: when they step in, who they are, and what each of them sees. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { apiClient } from "../support/api-client.ts";
import { choose, examine, hasCount } from "../support/browser.ts";
import { atPage, type DashboardWorld, openDashboardWorld } from "../support/dashboard-world.ts";

let world: DashboardWorld;
beforeAll(async () => {
  world = await openDashboardWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).click();
const inDialog = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true }).click();

test("a companion's settings say when people step in, by opening hours, and what visitors may leave", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const { id } = (await api.call("POST", "/api/companions", { name: "Ada" })).json;
  const read = async () => (await api.call("GET", `/api/companions/${id}`)).json;
  await page.goto(`${world.server.url}/app/companions/${id}/settings?section=people`);
  await hasCount(page.getByRole("link", { name: "Inbox" }), 0);
  await page.getByLabel("People may step in").check();
  await page.getByLabel("A person is available").selectOption("Within opening hours");
  await page.getByLabel("An offer to the visitor").check();
  await page.getByLabel("Only at certain hours").check();
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  await press(page, "Hours on Saturday");
  await page.getByLabel("Saturday, from").fill("10:00");
  await page.getByLabel("Saturday, to").fill("09:00");
  await press(page, "Remove 09:00 to 17:00 on Friday");
  await page.getByLabel("Closed on").fill("2026-12-25\n24.12.2026");
  await page.getByLabel("Seconds a visitor waits").fill("5");
  await press(page, "Save");
  await page.getByText("Must end after it begins").waitFor();
  await page.getByText("“24.12.2026” is no date").waitFor();
  await page.getByText("Must be 30 to 900.").waitFor();
  await page.getByLabel("Saturday, to").fill("00:00");
  await page.getByLabel("Closed on").fill("2026-12-25");
  await page.getByLabel("Seconds a visitor waits").fill("60");
  await page.getByLabel("Visitors may leave their email address").check();
  await page.getByLabel("Answers go to").fill("team@shop");
  await press(page, "Save");
  await page.getByText("Write what the visitor agrees to.").waitFor();
  await page.getByLabel("Consent text").fill("You may write to me.");
  await page.getByLabel("Answers go to").fill("team@shop.example");
  await page.getByLabel("Visitors may rate replies").check();
  await examine(page, "dashboard-people-settings");
  await press(page, "Save");
  await page.getByText("Saved.").waitFor();
  const nineToFive = [["09:00", "17:00"]];
  expect(await read()).toMatchObject({
    handoff: {
      ...{ mode: "asked", when: "hours", ask: ["visitor", "model", "no_answer"], wait_seconds: 60, idle_minutes: 30 },
      hours: {
        timezone: "Europe/Berlin",
        week: { mon: nineToFive, tue: nineToFive, wed: nineToFive, thu: nineToFive, sat: [["10:00", "24:00"]] },
        closed: ["2026-12-25"],
      },
    },
    leads: { when: "unavailable", consent_text: "You may write to me.", reply_to: "team@shop.example" },
    ratings: true,
    ask_resolved: false,
  });

  // The server has the last word, and its errors stand at their fields.
  await page.route(`**/api/companions/${id}`, async (route) => {
    if (route.request().method() !== "PATCH") return await route.continue();
    const errors = [{ param: "handoff.hours.week.sat.0", detail: "Not on a Saturday." }];
    await route.fulfill({ status: 400, json: { code: "invalid_request", detail: "One field is wrong.", errors } });
  });
  await page.getByLabel("Minutes of silence").fill("20");
  await press(page, "Save");
  await page.getByText("Not on a Saturday.").waitFor();
  await page.unroute(`**/api/companions/${id}`);
  await page.getByLabel("People may step in").uncheck();
  await press(page, "Save");
  await page.getByText("Not on a Saturday.").waitFor({ state: "detached" });
  await page.reload();
  await page.getByLabel("Visitors may rate replies").waitFor();
  expect(await read()).toMatchObject({ handoff: null, ratings: true });
  expect(complaints).toEqual([]);
});

test("a member is invited, changed, given another link, and removed", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  await api.call("POST", "/api/companions", { name: "Ada" });
  await page.goto(`${world.server.url}/app/members`);
  await atPage(page, "Members");
  await page.getByText("This server doesn't send email yet").waitFor();
  await press(page, "Invite a member");
  await page.getByLabel("Name", { exact: true }).fill("Grace");
  await page.getByLabel("Email").fill("grace@shop.example");
  await examine(page, "dashboard-member-new");
  await inDialog(page, "Invite");
  await page.getByText("It works once, within seven days").waitFor();
  const url = await page.locator("dialog code").innerText();
  expect(url).toContain("/app/invitation#");
  await inDialog(page, "Done");
  expect(await page.content()).not.toContain(url);
  await page.getByText("Invited", { exact: true }).waitFor();
  await examine(page, "dashboard-members");

  await choose(page, "grace", "New link…");
  await inDialog(page, "Create new link");
  await page.getByText("It works once, within seven days").waitFor();
  const second = await page.locator("dialog code").innerText();
  expect(second).not.toBe(url);
  await inDialog(page, "Done");

  await choose(page, "grace", "Edit…");
  await page.getByLabel("Role").selectOption("owner");
  await page.getByLabel("All, including future ones").uncheck();
  await page.getByRole("dialog").getByRole("combobox").last().click();
  await page.getByRole("option", { name: "Ada" }).click();
  await inDialog(page, "Save");
  await page.getByRole("cell", { name: "Ada" }).waitFor();
  const [, grace] = (await api.call("GET", "/api/members")).json.data;
  expect(grace).toMatchObject({ role: "owner", companion_ids: [expect.any(String)] });

  await choose(page, "grace", "Remove…");
  await page.getByText("Conversations that they have are answered by the companions again").waitFor();
  await inDialog(page, "Remove");
  await hasCount(page.getByText("grace@shop.example"), 0);
  expect(complaints).toEqual([]);
});

test("a lead leads to its conversation, is saved as a file, and is deleted alone", async () => {
  const { page, api, complaints } = await world.openAs("owner", "/healthz");
  const leads = { when: "always", consent_text: "You may write to me.", reply_to: null };
  const { embed_token } = (await api.call("POST", "/api/companions", { name: "Ada", leads })).json;
  const visitor = apiClient(world.server.url, null);
  for (const [local, name] of [
    ["ada", "Ada"],
    ["noa", "נועה"],
  ]) {
    const session_id = crypto.randomUUID();
    await visitor.call("POST", `/api/embed/${embed_token}/chat`, { session_id, message: "Are you open?" });
    const contact = { session_id, email: `${local}@example.com`, name, message: "Call me", consent: true };
    expect((await visitor.call("POST", `/api/embed/${embed_token}/contact`, contact)).status).toBeLessThan(300);
  }
  await page.goto(`${world.server.url}/app/leads`);
  const rows = page.getByRole("table", { name: "Leads" }).getByRole("row");
  await hasCount(rows, 3);
  await examine(page, "dashboard-leads");
  await page.locator("td :dir(rtl)", { hasText: "נועה" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), press(page, "CSV")]);
  expect(download.suggestedFilename()).toBe("leads.csv");
  const csv = readFileSync(await download.path(), "utf8");
  expect(csv.trim().split("\n")).toHaveLength(3);
  expect(csv).toContain("noa@example.com");

  await choose(page, "noa@example.com", "Delete…");
  await page.getByText("The conversation stays.").waitFor();
  await inDialog(page, "Delete");
  await hasCount(rows, 2);
  expect((await api.call("GET", "/api/leads")).json.data).toMatchObject([{ email: "ada@example.com" }]);
  expect((await api.call("GET", "/api/conversations")).json.data).toHaveLength(2);
  await rows.getByRole("link", { name: "Open conversation" }).click();
  await page.getByRole("log").getByText("Are you open?", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

test("a responder reads and answers, and is offered nothing else", async () => {
  const owner = await world.openAs("owner", "/healthz");
  const secret = "You help the customers of a bicycle shop.";
  const made = await owner.api.call("POST", "/api/companions", {
    ...{ name: "Ada", system_prompt: secret, handoff: { mode: "any", when: "always" } },
  });
  const { id, embed_token } = made.json;
  await owner.api.call("POST", `/api/companions/${id}/sources`, { type: "text", title: "Hours", text: "Nine to six." });
  await world.say(embed_token, "Are you open?");
  const { page, complaints } = await world.openMember(owner, "/app/companions");
  await atPage(page, "Companions");
  const places = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await hasCount(places, 5);
  expect(await places.allInnerTexts()).toEqual(["Inbox", "Companions", "Knowledge gaps", "Conversations", "Leads"]);
  await hasCount(page.getByRole("link", { name: "New companion" }), 0);
  await page.getByRole("link", { name: "Ada" }).click();
  await page.getByRole("heading", { name: "Hours" }).waitFor();
  expect(new URL(page.url()).pathname).toBe(`/app/companions/${id}/knowledge`);
  await hasCount(page.getByRole("navigation", { name: "Companion", exact: true }).getByRole("link"), 2);
  await hasCount(page.getByRole("button", { name: /^Delete/ }), 0);
  expect(await page.content()).not.toContain(secret);
  await places.getByText("Conversations").click();
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "Ada" }).click();
  await page.getByRole("log").getByText("Are you open?", { exact: true }).waitFor();
  await press(page, "More actions");
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["Take over after this reply"]);
  await page.keyboard.press("Escape");
  await press(page, "Take over");
  await page.getByText("You took it").waitFor();
  await page.goto(`${world.server.url}/app/members`);
  await page.getByText("Only owners can see members").waitFor();

  await page.goto(`${world.server.url}/app/account`);
  await page.getByLabel("Your name").fill("Grace Hopper");
  await page.getByLabel("Include what the visitor wrote").check();
  await page.getByRole("heading", { name: "You", exact: true }).waitFor();
  await press(page, "Save");
  await page.getByText("Saved.").waitFor();
  const [, grace] = (await owner.api.call("GET", "/api/members")).json.data;
  expect(grace).toMatchObject({ name: "Grace Hopper", notify: { mail: true, words: true } });
  expect(complaints).toEqual([]);
});
