/**
 * Run by `bun test` with coverage, in a separate process: a server that answers the number of messages in `MESSAGES`, one
 * conversation each, and prints how many milliseconds that took; then it is idle for `IDLE_MS`.
 */
import { expect, test } from "bun:test";
import { startTestServer } from "./app.ts";
import { chat } from "./chat.ts";

test("answers", async () => {
  // With the limiter that servers share, too.
  const server = await startTestServer({ isShared: true });
  const { embedToken } = await server.createCompanion();
  const count = Number(process.env["MESSAGES"]);
  const startedMs = performance.now();
  for (let message = 0; message < count; message++) {
    expect((await chat(server.url, embedToken, { message: "[[say:Hello you]]" })).isDone).toBe(true);
  }
  console.log(`took ${Math.ceil(performance.now() - startedMs)} ms`);
  await Bun.sleep(Number(process.env["IDLE_MS"]));
  await server.close();
});
