/** Visitors and people of the team against each other, by the widget and the public routes: both sides read the same. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser, Page, Request } from "playwright-core";
import type { HandoffSettings } from "../../src/domain/handoff.ts";
import { startTestServer, type TestServer } from "../support/app.ts";
import { launchBrowser, openPage, type PageOptions } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { createLiveWorld } from "../support/live-world.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { createWebsiteKey, signToken } from "../support/visitor-keys.ts";
import { widgetOn } from "../support/widget-world.ts";

let server: TestServer;
let browser: Browser;

beforeAll(async () => {
  const environment = { COMPANIOND_LIVE_RATE_PER_IP: "10000" };
  [server, browser] = await Promise.all([startTestServer({ environment }), launchBrowser()]);
});
afterAll(() => server.close());

const as = { id: "7", name: "Grace" };

/** A visitor's page, and somebody who sees the same conversation by a key. */
async function meet(handoff: Partial<HandoffSettings> = {}) {
  const world = await createLiveWorld(server, { mode: "asked", ...handoff });
  return await meetIn(world);
}

async function meetIn(world: Awaited<ReturnType<typeof createLiveWorld>>, options: PageOptions = {}) {
  const { page, complaints } = await openPage(browser, options);
  await page.goto(`${server.url}/c/${world.companion.embedToken}`);
  const widget = widgetOn(page);
  await widget.input.waitFor();

  async function findId(): Promise<string> {
    let id = "";
    await eventually(async () => {
      const { json } = await world.owner.call("GET", `/api/conversations?companion_id=${world.companion.id}`);
      id = json.data[0]?.["id"] as string;
      return !!id;
    });
    return id;
  }

  const team = async (method: string, path: string, body: object) => {
    const answer = await world.owner.call(method, `/api/conversations/${await findId()}/${path}`, { as, ...body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.text;
  };
  const read = async () =>
    (await world.owner.call("GET", `/api/conversations/${await findId()}`)).json as never as {
      messages: { role: string; text: string; author?: { name: string } }[];
      handoff: { state: string; seen: number; reach: string };
    };
  return {
    ...{ page, complaints, widget, world, team, read },
    write: (text: string) => team("POST", "messages", { text, client_id: crypto.randomUUID() }),
    stateIs: (state: string) => eventually(async () => (await read()).handoff?.state === state),
    /** As the server has them. */
    stored: async () => (await read()).messages.map(({ text }) => text),
    shown: () => shownOn(page),
  };
}

const shownOn = (page: Page) =>
  widgetOn(page).element.locator(".row:not(.intro *) .body:not(.dots):visible").allInnerTexts();

test("a visitor asks, is answered by a person and goes back; what both sides read is the same", async () => {
  const { page, widget, team, write, read, stored, shown, stateIs, complaints } = await meet();
  await widget.ask("Hello");
  await widget.replied();
  await widget.button("Talk to a person").click();
  await stateIs("waiting");
  await widget.ask("Is anybody there?");
  await team("POST", "typing", { typing: true });
  await write("I am Grace.");
  await widget.replies.getByText("I am Grace.").waitFor();
  expect(await widget.element.locator(".subtitle").innerText()).toBe("Grace");
  await team("POST", "typing", { typing: true });
  await widget.element.locator(".body.dots").waitFor();
  await widget.ask("Good");
  await eventually(async () => (await stored()).length === 5);
  // Left, kept by the browser, and come back to.
  const leave = (name: string) => page.evaluate(`window.dispatchEvent(new PageTransitionEvent("${name}"))`);
  const isLive = (request: Request) => request.url().includes("/live");
  const ended = page.waitForEvent("requestfailed", { predicate: isLive });
  const typed = page.waitForRequest((request) => isLive(request) && !!request.postData()?.includes('"typing":false'));
  await widget.input.pressSequentially("Wh");
  await leave("pagehide");
  await Promise.all([ended, typed]);
  await write("How can I help?");
  await leave("pageshow");
  await widget.replies.getByText("How can I help?").waitFor();
  await eventually(async () => (await read()).handoff.seen === 6);
  expect((await read()).handoff.reach).toBe("live");
  expect(await shown()).toEqual(await stored());
  await widget.input.fill("");
  await team("POST", "release", {});
  await widget.element.getByText("The person has left. The assistant answers again.").first().waitFor();
  await widget.ask("And now?");
  await widget.replies.getByText("You said: And now?").waitFor();
  expect(await shown()).toEqual(await stored());
  expect(complaints).toEqual([]);
});

test("the model asks: its reply says so, and the widget listens from then on", async () => {
  const { widget, write, stored, shown } = await meet({ waitingText: "I am fetching somebody." });
  await widget.ask('[[call:ask_for_a_person {"reason":"A refund"}]]');
  await widget.replies.getByText("I am fetching somebody.").waitFor();
  await widget.element.locator(".team").getByText("The team has been asked.").waitFor();
  await write("Here I am.");
  await widget.replies.getByText("Here I am.").waitFor();
  expect(await shown()).toEqual(await stored());
});

test("a person who takes a reply under way stops it: the part stands before what they write", async () => {
  const { widget, write, stored, shown, complaints } = await meet({ mode: "any" });
  await widget.ask("Hello");
  await widget.replied();
  server.mockLlm.respond(async (_request, response) => {
    await response.write(wholeStream(["It is ", "done."]).slice(0, 2).join(""));
    await response.closed;
  });
  await widget.ask("Tell me more");
  await widget.replies.getByText("It is").waitFor();
  await write("Let me answer that.");
  server.mockLlm.respond(null);
  await widget.replies.getByText("Let me answer that.").waitFor();
  expect(await widget.notice.isVisible()).toBe(false);
  expect((await shown()).map((text) => text.trim())).toEqual((await stored()).map((text) => text.trim()));
  expect(complaints).toEqual([]);
});

test("both write while the network comes and goes, and over reloads: each message once, in the same order", async () => {
  const { page, widget, write, stored, shown } = await meet();
  await widget.button("Talk to a person").click();
  await write("Begin");
  await widget.replies.getByText("Begin").waitFor();
  for (let round = 1; round <= 4; round++) {
    await Promise.all([widget.ask(`Visitor ${round}`), write(`Person ${round}`)]);
    if (round % 2) {
      await page.context().setOffline(true);
      await write(`Unheard ${round}`);
      await page.context().setOffline(false);
    } else {
      await eventually(async () => (await stored()).includes(`Visitor ${round}`));
      await page.reload();
    }
    await eventually(async () => (await stored()).includes(`Visitor ${round}`));
    await widget.input.waitFor();
  }
  await write("End");
  await widget.replies.getByText("End", { exact: true }).waitFor();
  await eventually(async () => JSON.stringify(await shown()) === JSON.stringify(await stored()), {
    what: "both sides to read the same",
    withinMs: 20_000,
  }).catch(async () => expect(await shown()).toEqual(await stored()));
  expect(await stored()).toHaveLength(12);
}, 180_000);

test("a known visitor reads people's messages on another device too, and signing out leaves nothing of them", async () => {
  const world = await createLiveWorld(server, { mode: "asked" }, { visitorAuth: "optional" });
  const key = await createWebsiteKey(server.url, world.key);
  const token = await signToken(key, world.companion.id, { sub: "ada" });
  const identify = `document.querySelector("companion-chat").identify(${JSON.stringify(token)})`;
  const { page, widget, write, stored, shown } = await meetIn(world);
  await page.evaluate(identify);
  await widget.askWhenKnown("Hello");
  await widget.replied();
  await widget.button("Talk to a person").click();
  await widget.element.locator(".team").getByText("The team has been asked.").waitFor();
  await write("From Grace");
  await widget.replies.getByText("From Grace").waitFor();

  const phone = await meetIn(world, { viewport: { width: 390, height: 800 } });
  await phone.page.evaluate(identify);
  await phone.widget.replies.getByText("From Grace").waitFor();
  await phone.widget.element.locator(".team").getByText("You are chatting with Grace").waitFor();
  await phone.widget.askWhenKnown("On my way");
  await write("Good");
  for (const side of [phone, { shown, widget }]) {
    await side.widget.replies.getByText("Good", { exact: true }).waitFor();
    expect(await side.shown()).toEqual(await stored());
  }
  expect(await phone.widget.element.locator(".by").allInnerTexts()).toEqual(["Grace", "Grace"]);

  await phone.page.evaluate('document.querySelector("companion-chat").identify(null)');
  await phone.widget.element.locator(".row.user").first().waitFor({ state: "detached" });
  expect(await phone.widget.element.locator(".subtitle").innerText()).toBe("AI assistant");
  const kept = "Object.keys(localStorage).filter((key) => !key.endsWith(':config'))";
  expect(await phone.page.evaluate<string[]>(kept)).toEqual([]);
});

test("a companion that asks for work gets it before a person is asked for", async () => {
  const world = await createLiveWorld(server, { mode: "asked" }, { challenge: "always" });
  const { widget, stateIs, write, shown, stored } = await meetIn(world);
  await widget.button("Talk to a person").click();
  await widget.element.locator(".team").getByText("The team has been asked.").waitFor();
  await stateIs("waiting");
  await widget.ask("Hello");
  await eventually(async () => (await stored()).length === 1);
  await write("Here");
  await widget.replies.getByText("Here", { exact: true }).waitFor();
  expect(await shown()).toEqual(["Hello", "Here"]);
});
