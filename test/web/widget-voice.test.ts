/** Voice in the widget, with the provider's own client and a socket that speaks as the provider's. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { findViolationsInState } from "../support/axe.ts";
import { keepScreenshot } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { type MockElevenLabs, startMockElevenLabs } from "../support/mock-elevenlabs.ts";
import { type MockVoiceSocket, startMockVoiceSocket } from "../support/mock-voice-socket.ts";
import { focusedName, openWidgetWorld, tag, type WidgetWorld, widgetOn } from "../support/widget-world.ts";

const dailySessions = 20;
let world: WidgetWorld;
let provider: MockElevenLabs;
let socket: MockVoiceSocket;
let token: string;

beforeAll(async () => {
  provider = await startMockElevenLabs();
  socket = startMockVoiceSocket();
  provider.setSocketUrl(socket.url);
  world = await openWidgetWorld({
    env: {
      ELEVENLABS_API_KEY: provider.apiKey,
      ELEVENLABS_BASE_URL: provider.url,
      COMPANIOND_DAILY_VOICE_FREE: String(dailySessions),
    },
    flags: [
      "--use-fake-device-for-media-stream",
      // A browser without windows has nobody to ask, and allows what the page's policy does not forbid.
      "--use-fake-ui-for-media-stream",
      "--autoplay-policy=no-user-gesture-required",
    ],
  });
  token = (await world.createCompanion({ voice_id: "voice_1" })).embed_token;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await socket.close();
  await provider.close();
});

async function openVoice({ isAllowed = true, attributes = "", embedToken = token } = {}) {
  const opened = await world.open();
  const requests: string[] = [];
  opened.page.on("request", (request) => requests.push(request.url()));
  const { url } = world.server;
  // As strict as a page can be: voice adds nothing but the provider's socket.
  const policy = `default-src 'none'; script-src 'self' ${url}; style-src 'self'; img-src ${url}; connect-src ${url} ${new URL(socket.url).origin}`;
  const headers = {
    "Content-Security-Policy": policy,
    ...(isAllowed ? {} : { "Permissions-Policy": "microphone=()" }),
  };
  await opened.page.goto(world.host(tag(world.server, embedToken, attributes), { headers }));
  const widget = widgetOn(opened.page);
  await widget.open();
  return { ...opened, widget, requests, bar: widget.element.locator(".voice") };
}

test("connects, listens, speaks, mutes and ends, under a strict policy and without third parties", async () => {
  const { page, widget, requests, complaints, bar } = await openVoice();
  expect(requests.some((url) => url.includes("voice"))).toBe(false);
  await widget.button("Start voice chat").press("Enter");
  await bar.getByText("Listening", { exact: true }).waitFor();
  expect(await focusedName(page)).toBe("End voice chat");
  await keepScreenshot(page, "voice-listening");
  expect(await findViolationsInState(page)).toEqual([]);
  expect(await widget.button("Start voice chat").isVisible()).toBe(false);
  expect(socket.received).toContain("conversation_initiation_client_data");
  await eventually(() => socket.received.includes("user_audio_chunk"));
  // The provider's address goes to the provider as it was signed.
  expect(socket.queries[0]).toStartWith("?conversation_signature=cvtkn_%2fa~b+c==&agent_id=agent_");

  socket.speak("Hello, I am listening.", 1500);
  await bar.getByText("Ada is speaking").waitFor();
  await keepScreenshot(page, "voice-speaking");
  await widget.replies.getByText("Hello, I am listening.").waitFor();
  await bar.getByText("Listening", { exact: true }).waitFor();
  socket.send({
    type: "user_transcript",
    user_transcription_event: { user_transcript: "What did I say?", event_id: 9 },
  });
  await widget.questions.getByText("What did I say?").waitFor();

  await widget.button("Mute microphone").click();
  await bar.getByText("Muted", { exact: true }).waitFor();
  await keepScreenshot(page, "voice-muted");
  await widget.button("Unmute microphone").click();
  await bar.getByText("Listening", { exact: true }).waitFor();
  await widget.button("End voice chat").press("Enter");
  await bar.getByText("Voice chat ended").waitFor();
  // One line; the orb and its buttons are gone.
  expect(await bar.evaluate((each) => each.getBoundingClientRect().height)).toBeLessThan(80);
  await keepScreenshot(page, "voice-ended");
  expect(socket.connections).toBe(0);
  await widget.button("Start voice chat").waitFor();
  expect(await focusedName(page)).toBe("Start voice chat");
  await eventually(() => socket.connections === 0);

  const hosts = new Set(requests.map((url) => new URL(url).hostname));
  expect([...hosts]).toEqual(["127.0.0.1"]);
  expect(complaints).toEqual([]);
});

test("a refused microphone is reported in a sentence, and no session is requested", async () => {
  const before = provider.count("session");
  const { page, widget, bar } = await openVoice({ isAllowed: false });
  await widget.button("Start voice chat").click();
  await bar.getByText("The microphone is blocked.").waitFor();
  expect(await widget.input.isVisible()).toBe(true);
  await widget.said.getByText("The microphone is blocked.").waitFor({ state: "attached" });
  await keepScreenshot(page, "voice-refused");
  expect(await findViolationsInState(page)).toEqual([]);
  expect(provider.count("session")).toBe(before);
  await widget.button("Start voice chat").waitFor();
});

test("a provider that fails or hangs up is reported and can be tried again", async () => {
  const { widget, bar } = await openVoice();
  provider.fail({ kind: 500, operation: "session" });
  await widget.button("Start voice chat").click();
  await bar.getByText("Voice chat could not be started.").waitFor();
  provider.heal();
  await widget.button("Start voice chat").click();
  await bar.getByText("Listening", { exact: true }).waitFor();
  socket.hangUp(1011);
  await bar.getByText("The connection failed.").waitFor();
  await widget.button("Start voice chat").click();
  await bar.getByText("Listening", { exact: true }).waitFor();
  socket.hangUp(1000);
  await bar.getByText("Voice chat ended").waitFor();
  await eventually(() => socket.connections === 0);
  expect(await widget.button("Start voice chat").isVisible()).toBe(true);
});

test("a day whose sessions are used up is reported, and the provider is not called", async () => {
  const { embed_token: embedToken } = await world.createCompanion({ voice_id: "voice_2" });
  const { url } = world.server;
  const ask = () => fetch(`${url}/api/embed/${embedToken}/voice-token`, { method: "POST" });
  for (let session = 0; session < dailySessions; session++) expect((await ask()).status).toBe(200);
  const before = provider.count("session");
  const { widget, bar } = await openVoice({ embedToken });
  await widget.button("Start voice chat").click();
  await bar.getByText("Voice chat is used up for today.").waitFor();
  expect(provider.count("session")).toBe(before);
});

test("the words of a session are spoken in the page's language, and the session ends with the element", async () => {
  const { page, widget, bar } = await openVoice({ attributes: 'data-lang="de"' });
  await widget.button("Sprachchat beginnen").click();
  await bar.getByText("Hört zu").waitFor();
  await page.evaluate(`document.querySelector("companion-chat").remove()`);
  await eventually(() => socket.connections === 0);
  expect(await bar.count()).toBe(0);
});

test("a companion without a voice has no button for one", async () => {
  const { embed_token } = await world.createCompanion();
  const { page } = await world.open();
  await page.goto(world.host(tag(world.server, embed_token)));
  const widget = widgetOn(page);
  await widget.open();
  expect(await widget.button("Start voice chat").isVisible()).toBe(false);
});
