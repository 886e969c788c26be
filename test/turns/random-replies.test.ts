/**
 * Clients that send, repeat, lose, follow and stop named messages at random: nobody sees a character twice or never, no
 * message runs twice at once, and nothing is left behind.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { sendChat } from "../support/chat.ts";
import { eventually } from "../support/eventually.ts";
import { chunk, doneMark } from "../support/mock-llm-replies.ts";
import { createRandom } from "../support/random.ts";
import { cancel, follow, type NamedMessage, newMessage, parseStream, readUntil } from "../support/resumed-chat.ts";
import { keptMessages } from "../support/turn-messages.ts";
import { turnsOfTheLoop } from "../support/turns-of-the-loop.ts";

const seed = 20_261_122;
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const said = ["Das ", "😀 ist ", "漢字 ", "und ", "👩‍👩‍👧", " Ende"];

test(`at random (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const { mockLlm, services } = server;
  const companion = await server.createCompanion();
  const token = companion.embedToken;
  const running = new Map<string, number>();
  mockLlm.respond(async ({ userText }, response) => {
    const runs = (running.get(userText) ?? 0) + 1;
    running.set(userText, runs);
    // Of one message, at most one at a time.
    expect(runs).toBe(1);
    void response.closed.then(() => running.set(userText, 0));
    for (const delta of said) {
      await turnsOfTheLoop(random.below(40));
      if (response.isClosed) return;
      await response.write(chunk({ content: `${delta}${userText} ` }));
    }
    await response.write(chunk({ finishReason: "stop" }) + doneMark);
    response.end();
  });

  const messages = Array.from({ length: 40 }, (_, index) => newMessage({ message: `m${index}` }));
  const cancelled = new Set<NamedMessage>();
  const wholeOf = ({ message }: NamedMessage) => said.map((delta) => `${delta}${message} `).join("");

  async function visit(message: NamedMessage): Promise<void> {
    let had = "";
    for (let step = 0; step < 6; step++) {
      const action = random.below(10);
      if (action === 0) {
        cancelled.add(message);
        expect([204, 404]).toContain((await cancel(server.url, token, message)).status);
        continue;
      }
      const isFollowing = action > 4;
      const patience = random.below(4) === 0 ? Number.POSITIVE_INFINITY : random.below(30);
      const response = isFollowing
        ? await follow(server.url, token, message, had.length)
        : await sendChat(server.url, token, { ...message, resume: random.below(5) > 0 });
      if (response.status === 204) {
        expect(had).toBe(wholeOf(message));
        continue;
      }
      if (response.status !== 200) {
        expect(isFollowing ? [404, 400] : [409]).toContain(response.status);
        await response.text();
        // Run anew: what was had before is no part of it.
        had = "";
        continue;
      }
      const { text, isDone, comments, ids } = await readUntil(response, (read) => read.text.length >= patience);
      const all = isFollowing ? had + text : text;
      expect(wholeOf(message)).toStartWith(all);
      if (isDone) expect(all).toBe(wholeOf(message));
      if (isFollowing && ids.length > 0) expect(ids.at(-1)).toBe(String(all.length));
      if (comments.includes("error cancelled")) expect(cancelled.has(message)).toBe(true);
      had = all;
    }
  }

  await Promise.all(messages.flatMap((message) => [visit(message), visit(message)]));
  for (const message of messages) await cancel(server.url, token, message);
  await eventually(() => services.openTurns.size === 0 && mockLlm.openRequests === 0);
  await eventually(() => services.replies.count === 0);
  expect([services.replies.heldBytes, services.coordination.turns.waitingCount]).toEqual([0, 0]);

  const answers = await Promise.all(
    messages.map(async (message) => {
      const response = await sendChat(server.url, token, message);
      return { message, status: response.status, ...parseStream(response.status === 200 ? await response.text() : "") };
    }),
  );
  for (const { message, status, text, isDone } of answers) {
    if (status === 409) expect(cancelled.has(message)).toBe(true);
    else expect([wholeOf(message).startsWith(text), isDone]).toEqual([true, text === wholeOf(message)]);
  }
  expect((await keptMessages(server, companion)).length).toBeGreaterThan(0);
});
