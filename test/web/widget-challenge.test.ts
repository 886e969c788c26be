/** The widget and companions that ask for a proof of work: on any page, visitors notice next to nothing of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { type MockElevenLabs, startMockElevenLabs } from "../support/mock-elevenlabs.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let provider: MockElevenLabs;
let token: string;

beforeAll(async () => {
  provider = await startMockElevenLabs();
  world = await openWidgetWorld({
    env: { ELEVENLABS_API_KEY: provider.apiKey, ELEVENLABS_BASE_URL: provider.url },
    flags: [
      // A name that is not this machine's own: a page of plain HTTP there is no secure context.
      "--host-resolver-rules=MAP shop.test 127.0.0.1",
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
    ],
  });
  token = (await world.createCompanion({ challenge: "always", voice_id: "voice_1" })).embed_token;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await provider.close();
});

interface Visit {
  url?: string;
  colorScheme?: "dark" | "light";
  /** Until the returned promise resolves, the solver's file does not arrive. */
  held?: Promise<void>;
}

async function visit({ url = world.host(tag(world.server, token)), colorScheme = "light", held }: Visit = {}) {
  const opened = await world.open({ colorScheme, reducedMotion: "reduce" });
  const { page } = opened;
  const seen = { files: [] as string[], workers: 0, posts: [] as number[] };
  page.on("request", (request) => seen.files.push(request.url().replace(/^.*\//, "")));
  page.on("response", (response) => {
    if (response.request().method() === "POST") seen.posts.push(response.status());
  });
  page.on("worker", () => seen.workers++);
  if (held) {
    await page.route(/\/challenge\.\w+\.js$/, async (route) => {
      await held;
      await route.continue();
    });
  }
  await page.goto(url);
  const widget = widgetOn(page);
  return { ...opened, widget, seen };
}

const solvers = (files: readonly string[]) => files.filter((file) => file.startsWith("challenge."));
/** Chromium tells of each refused request. */
const isRefusal = (complaint: string) => complaint.includes("status of 403");

test("a message is answered on a page of another origin, and the solver is loaded for it alone", async () => {
  const { widget, seen, complaints } = await visit();
  await widget.open();
  expect(solvers(seen.files)).toEqual([]);
  for (const count of [1, 2]) {
    await widget.ask("Hello");
    await widget.replied(count);
    expect(await widget.replies.last().innerText()).toBe("You said: Hello");
  }
  expect(seen.posts).toEqual([403, 200, 403, 200]);
  expect([seen.workers, solvers(seen.files).length]).toEqual([2, 1]);
  expect(complaints.filter((complaint) => !isRefusal(complaint))).toEqual([]);
});

test("a message is answered on a page of plain HTTP, without the browser's own cryptography", async () => {
  const url = world.host(tag(world.server, token)).replace("127.0.0.1", "shop.test");
  const { page, widget, seen } = await visit({ url });
  expect(await page.evaluate("crypto.subtle === undefined")).toBe(true);
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  expect(seen.posts).toEqual([403, 200]);
});

test("a message is answered under a policy that forbids workers", async () => {
  const { url } = world.server;
  const policy = `default-src 'none'; script-src ${url}; worker-src 'none'; img-src ${url}; connect-src ${url}`;
  const headers = { "Content-Security-Policy": policy };
  const { widget, seen } = await visit({ url: world.host(tag(world.server, token), { headers }) });
  await widget.open();
  await widget.ask("Hello");
  await widget.replied();
  expect([seen.posts, seen.workers]).toEqual([[403, 200], 0]);
});

test("a message is answered on the companion's own page, in a worker and within its policy", async () => {
  const { widget, seen, complaints } = await visit({ url: `${world.server.url}/c/${token}` });
  await widget.ask("Hello");
  await widget.replied();
  expect([seen.posts, seen.workers]).toEqual([[403, 200], 1]);
  expect(complaints.filter((complaint) => !isRefusal(complaint))).toEqual([]);
});

test("while the challenge is solved the widget says so quietly, in the dark too, and can be stopped", async () => {
  const held = Promise.withResolvers<void>();
  const { page, widget, seen } = await visit({ colorScheme: "dark", held: held.promise });
  await widget.open();
  await widget.ask("Hello");
  await widget.notice.getByText("Checking…").waitFor();
  await widget.said.getByText("Checking…").waitFor({ state: "attached" });
  expect(await widget.notice.getAttribute("class")).toBe("notice quiet");
  expect(await findViolationsInState(page)).toEqual([]);
  await keepScreenshot(page, "challenge-dark");
  await widget.button("Stop the reply").click();
  await widget.notice.getByText("You stopped the reply.").waitFor();
  held.resolve();
  await widget.ask("Hello again");
  await widget.replied();
  expect(seen.posts).toEqual([403, 403, 200]);
});

test("a solver that does not arrive is told as a failure, and the next try has it", async () => {
  const { page, widget } = await visit();
  await page.route(/\/challenge\.(\w+\.)?js/, (route) => route.abort());
  await widget.open();
  await widget.ask("Hello");
  await widget.notice.getByText("Something went wrong. Please try again.").waitFor();
  await page.unroute(/\/challenge\.(\w+\.)?js/);
  await widget.button("Try again").click();
  await widget.replied();
  expect(await widget.questions.count()).toBe(1);
});

test("a page with the SDK alone has the solver from the same server", async () => {
  const { page, seen } = await visit({ url: world.host("") });
  const reply = await page.evaluate(`(async () => {
    const { createCompanion } = await import("${world.server.url}/sdk.js");
    const companion = createCompanion({ baseUrl: "${world.server.url}/", token: "${token}" });
    let text = "";
    for await (const fragment of companion.chat("Hello")) text += fragment;
    return text;
  })()`);
  expect(reply).toBe("You said: Hello");
  expect([seen.posts, solvers(seen.files)]).toEqual([[403, 200], ["challenge.js"]]);
});

test("a companion that begins to ask while its widget is open gets the message all the same", async () => {
  const { id, embed_token } = await world.createCompanion({ voice_id: "voice_1" });
  const { widget, seen } = await visit({ url: world.host(tag(world.server, embed_token)) });
  const speaking = await visit({ url: world.host(tag(world.server, embed_token)) });
  await widget.open();
  await speaking.widget.open();
  await widget.ask("Hello");
  await widget.replied();
  expect(seen.files.filter((file) => /^(sdk|challenge)/.test(file))).toEqual([]);
  await world.call("PATCH", `/api/companions/${id}`, { challenge: "always" });
  await widget.ask("Still there?");
  await widget.replied(2);
  // From then on it goes straight to the client that solves.
  await widget.ask("And now?");
  await widget.replied(3);
  expect(seen.posts).toEqual([200, 403, 403, 200, 403, 200]);
  expect(await widget.notice.isHidden()).toBe(true);

  const admitted = speaking.page.waitForResponse(
    (response) => response.url().endsWith("/voice-token") && response.ok(),
  );
  await speaking.widget.button("Start voice chat").click();
  await admitted;
  expect(speaking.seen.posts.slice(0, 3)).toEqual([403, 403, 200]);
});

test("voice asks for the same", async () => {
  const { page, widget, seen } = await visit();
  await widget.open();
  const admitted = page.waitForResponse((response) => response.url().endsWith("/voice-token") && response.ok());
  await widget.button("Start voice chat").click();
  await admitted;
  expect(seen.posts.slice(0, 2)).toEqual([403, 200]);
});
