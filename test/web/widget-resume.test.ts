/** Replies in the widget over cut lines, reloads and the stop button: one reply, each character once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { findViolationsInState } from "../support/axe.ts";
import { hasCount, keepScreenshot } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { someOf } from "../support/full.ts";
import { wholeStream } from "../support/mock-llm-replies.ts";
import { openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

let world: WidgetWorld;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await openWidgetWorld();
  proxy = await startFaultProxy(Number(new URL(world.server.url).port));
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** The provider says the next fragment whenever `say` is called. */
function tell() {
  const steps: { text: string; said: () => void }[] = [];
  let wake = () => {};
  world.mockLlm.respond(async (_request, response) => {
    const [role = "", ...end] = wholeStream([]);
    await response.write(role);
    for (;;) {
      const step = steps.shift();
      if (!step) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if (!step.text) break;
      await response.write(wholeStream([step.text])[1] ?? "");
      step.said();
    }
    for (const part of end) await response.write(part);
    response.end();
  });
  const step = (text: string) =>
    new Promise<void>((said) => {
      steps.push({ text, said });
      wake();
    });
  return { say: step, finish: () => void step("") };
}

/** A website whose line to the server can be cut, with its panel open. */
async function openChat(options: BrowserContextOptions = {}) {
  const companion = await world.createCompanion();
  const { page } = await world.open({ reducedMotion: "reduce", ...options });
  const files: string[] = [];
  page.on("request", (request) => files.push(new URL(request.url()).pathname));
  await page.goto(world.host(tag({ url: `http://127.0.0.1:${proxy.port}` }, companion.embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  await widget.input.waitFor();
  const before = world.mockLlm.requests.length;
  return {
    ...{ companion, page, widget },
    asked: () => world.mockLlm.requests.length - before,
    hasSdk: () => files.some((path) => path.startsWith("/assets/sdk.")),
  };
}

test.each(someOf(["light", "dark"] as const))(
  "a line cut in the middle of a reply is waited for, quietly: %s",
  async (colorScheme) => {
    const { page, widget, asked, hasSdk } = await openChat({ colorScheme });
    const teller = tell();
    await widget.ask("Tell me");
    await teller.say("Grüße, 👩‍👩‍👧 and ");
    await widget.replies.last().getByText("Grüße").waitFor();
    expect(hasSdk()).toBe(false);
    await proxy.set("refuse");
    proxy.cut();
    await widget.notice.getByText(/^Reconnecting…$/).waitFor();
    expect(await widget.button("Try again").isVisible()).toBe(false);
    const edges = await Promise.all(
      [widget.notice.locator("span"), widget.replies.last()].map((each) => each.boundingBox()),
    );
    expect(edges[0]?.x).toBe(edges[1]?.x ?? -1);
    expect(await findViolationsInState(page)).toEqual([]);
    await keepScreenshot(page, `reconnecting-${colorScheme}`);
    await teller.say("said meanwhile, ");
    await proxy.set("pass");
    await widget.replies.last().getByText("said meanwhile,").waitFor();
    expect(await widget.notice.isVisible()).toBe(false);
    await teller.say("and after.");
    teller.finish();
    await widget.replied();
    expect(await widget.replies.last().innerText()).toBe("Grüße, 👩‍👩‍👧 and said meanwhile, and after.");
    expect([asked(), hasSdk()]).toEqual([1, true]);
  },
);

test("a stop while the line is cut takes effect at once, and at the server as soon as the line is back", async () => {
  const { page, widget } = await openChat();
  const teller = tell();
  await widget.ask("Tell me");
  await teller.say("Before, ");
  await widget.replies.last().getByText("Before,").waitFor();
  const aborted = world.mockLlm.abortedRequests;
  // Nothing answers any more, and nothing says so: the SDK's file does not come either.
  await proxy.set("swallow");
  proxy.cut();
  await widget.notice.getByText(/^Reconnecting…$/).waitFor();
  await page.waitForRequest(/sdk/);
  await widget.button("Stop the reply").click();
  await widget.notice.getByText(/^You stopped the reply\./).waitFor();
  await proxy.set("refuse");
  proxy.cut();
  await proxy.set("pass");
  await world.mockLlm.until(() => world.mockLlm.abortedRequests > aborted);
  expect(await widget.replies.last().innerText()).toBe("Before,");
});

test("a browser that goes offline in the middle of a reply goes on with it as soon as it is back", async () => {
  const { page, widget, asked } = await openChat();
  const teller = tell();
  await widget.ask("Tell me");
  await teller.say("Before, ");
  await widget.replies.last().getByText("Before,").waitFor();
  await page.context().setOffline(true);
  proxy.cut();
  await widget.notice.getByText(/^You are offline\.$/).waitFor();
  await teller.say("and after.");
  teller.finish();
  await page.context().setOffline(false);
  await widget.replied();
  expect(await widget.replies.last().innerText()).toBe("Before, and after.");
  expect(asked()).toBe(1);
});

test("a reload in the middle of a reply goes on with it; so does the next page, behind its launcher", async () => {
  const { page, widget, asked } = await openChat();
  const teller = tell();
  await widget.ask("Tell me");
  await teller.say("One, ");
  await widget.replies.last().getByText("One,").waitFor();
  await page.reload();
  await teller.say("two, ");
  await widget.replies.last().getByText("One, two,").waitFor();
  await widget.button("Stop the reply").waitFor();
  await widget.launcher.click();
  await page.reload();
  await widget.launcher.waitFor();
  await teller.say("three.");
  teller.finish();
  await widget.element.locator(".row.assistant[data-state=done]").waitFor({ state: "attached" });
  await widget.open();
  expect(await widget.replies.last().innerText()).toBe("One, two, three.");
  expect(asked()).toBe(1);
  expect(await widget.notice.isVisible()).toBe(false);
});

test("the stop button ends the reply at the server, before its first word and after, and it is kept as incomplete", async () => {
  const { companion, widget } = await openChat();
  const aborted = world.mockLlm.abortedRequests;
  const teller = tell();
  await widget.ask("Stop me");
  await teller.say("Half of ");
  await widget.replies.last().getByText("Half of").waitFor();
  await widget.button("Stop the reply").click();
  await widget.notice.getByText("You stopped the reply.").waitFor();
  await world.mockLlm.until(() => world.mockLlm.abortedRequests === aborted + 1);
  const read = async (path: string) => (await (await world.call("GET", path)).json()) as Record<string, never>;
  const [{ id }] = (await read(`/api/companions/${companion.id}/conversations`)).data as unknown as [{ id: string }];
  await eventually(
    async () => ((await read(`/api/conversations/${id}`)).messages as unknown as unknown[]).length === 2,
  );
  expect((await read(`/api/conversations/${id}`)).messages).toMatchObject([
    { role: "user", text: "Stop me" },
    { role: "assistant", text: "Half of ", complete: false },
  ]);

  world.mockLlm.respond(() => {});
  await widget.ask("And me");
  await world.mockLlm.until(() => world.mockLlm.openRequests === 1);
  await widget.button("Stop the reply").click();
  await world.mockLlm.until(() => world.mockLlm.abortedRequests === aborted + 2);
  await hasCount(widget.element.locator(".dots"), 0);
  world.respondWith(["Here I am."]);
  await widget.button("Try again").click();
  await widget.replied();
  expect(await widget.questions.allInnerTexts()).toEqual(["Stop me", "And me"]);
});

test("a server that stays away is given up, and another try goes on where the reply was", async () => {
  const { page, widget, asked } = await openChat();
  const teller = tell();
  await widget.ask("Tell me");
  await teller.say("Half ");
  await widget.replies.last().getByText("Half").waitFor();
  await page.clock.install();
  await proxy.set("refuse");
  proxy.cut();
  await eventually(async () => {
    await page.clock.runFor(1_000);
    return await widget.notice.getByText("The connection was lost before the reply was complete.").isVisible();
  });
  await proxy.set("pass");
  await teller.say("and half.");
  teller.finish();
  await widget.button("Try again").click();
  await page.clock.resume();
  await widget.replied();
  expect(await widget.replies.last().innerText()).toBe("Half and half.");
  expect(await widget.questions.count()).toBe(1);
  expect(asked()).toBe(1);
});
