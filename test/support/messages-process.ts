/** Run by `bun test` with coverage, in a separate process: a server that answers the number of messages in `MESSAGES`, one conversation each. */
import { expect, test } from "bun:test";
import { startTestServer } from "./app.ts";
import { chat } from "./chat.ts";

test("answers", async () => {
  // What is done every second would count as done for each message where this takes long: on a busy machine.
  const { setInterval } = globalThis;
  const seldom = (run: () => void, delayMs = 0) => setInterval(run, 100 * delayMs);
  globalThis.setInterval = seldom as typeof setInterval;
  // With the limiter that servers share, too.
  const server = await startTestServer({ isShared: true });
  const { embedToken } = await server.createCompanion();
  const count = Number(process.env["MESSAGES"]);
  for (let message = 0; message < count; message++) {
    expect((await chat(server.url, embedToken, { message: "[[say:Hello you]]" })).isDone).toBe(true);
  }
  await server.close();
});
