/** Replies that survive their stream: a lost client comes back, and has each character once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { follow, newMessage, readAll, readUntil, sayOnCommand } from "../support/resumed-chat.ts";

let server: TestServer;
let token: string;
let companionId: string;
beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(async () => {
  server.mockLlm.respond(null);
  server.mockLlm.requests.length = 0;
  ({ embedToken: token, id: companionId } = await server.createCompanion());
});
afterAll(() => server.close());

const today = () => new Date().toISOString().slice(0, 10);
const countToday = () => server.services.store.turns.countDay(companionId, today());
const deltas = ["Grüße ", "😀", "an ", "👩‍👩‍👧", " alle"];
const whole = deltas.join("");

describe("a reply that its visitor lost", () => {
  test("is whole, character by character, wherever it was cut", async () => {
    for (let cut = 1; cut < deltas.length; cut++) {
      const provider = sayOnCommand(server, deltas);
      const message = newMessage();
      const asked = sendChat(server.url, token, message);
      provider.say(cut);
      const had = deltas.slice(0, cut).join("");
      const first = await readUntil(await asked, ({ text }) => text.length >= had.length);
      expect(first.text).toBe(had);
      const rest = await follow(server.url, token, message, first.text.length);
      expect(rest.status).toBe(200);
      expect(rest.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
      provider.say();
      const read = await readAll(rest);
      expect(first.text + read.text).toBe(whole);
      expect(read.isDone).toBe(true);
      expect(read.ids.at(-1)).toBe(String(whole.length));
    }
    expect(await countToday()).toBe(deltas.length - 1);
  });

  test("runs once, however often it is sent", async () => {
    const provider = sayOnCommand(server, deltas);
    const message = newMessage();
    const one = sendChat(server.url, token, message);
    const two = sendChat(server.url, token, message);
    await server.mockLlm.until(() => server.mockLlm.requests.length > 0);
    provider.say();
    for (const response of [await one, await two]) {
      expect(response.headers.get("x-session-id")).toBe(message.session_id);
      const read = await readAll(response);
      expect(read).toMatchObject({ text: whole, isDone: true });
      // Only who comes back with GET gets ids.
      expect(read.ids.every((id) => id === undefined)).toBe(true);
    }
    expect(server.mockLlm.requests).toHaveLength(1);
  });

  test("is answered from the store once it is settled", async () => {
    const message = newMessage({ message: "[[say:Hello you]]" });
    const first = await (await sendChat(server.url, token, message)).text();
    const again = await sendChat(server.url, token, message);
    expect(await readAll(again)).toMatchObject({ text: "Hello you", isDone: true });
    expect((await follow(server.url, token, message, 9)).status).toBe(204);
    expect(await readAll(await follow(server.url, token, message, 6))).toMatchObject({
      text: "you",
      isDone: true,
      ids: ["9", "9"],
    });
    expect(first).toContain("[DONE]");
    expect(server.mockLlm.requests).toHaveLength(1);
    expect(await countToday()).toBe(1);
  });
});
