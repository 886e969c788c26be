/** Deadlines of conversations as a server keeps them: when they come, and where it was down when they came. */
import { expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../support/app.ts";
import { dropEngineDatabase } from "../support/engine.ts";
import { eventually } from "../support/eventually.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { conversationOf, handoffSettings } from "../support/people-world.ts";
import { temporaryDirectory } from "../support/temporary.ts";

async function ask(server: TestServer, clock: ManualClock) {
  const account = await server.createAccount({ email: `${crypto.randomUUID()}@shop.example` });
  const companion = await server.createCompanion({ handoff: { ...handoffSettings, waitSeconds: 30 } }, account);
  const conversation = conversationOf(server, companion, clock);
  const asked = await server.services.people.ask(conversation.visitor, "visitor", null);
  expect(asked).toMatchObject({ state: "waiting", untilMs: clock.nowMs() + 30_000 });
  return conversation;
}

test("a server keeps them when they come", async () => {
  const clock = createManualClock(Date.now());
  const server = await startTestServer({ clock });
  try {
    const { key, visitor } = await ask(server, clock);
    clock.advance(29_990);
    // Each change asks again when the next one comes: in a hundredth of a second.
    await server.services.people.keepMessage(visitor, { text: "Hello?", messageId: null, isPlain: false });
    clock.advance(10);
    await eventually(async () => (await server.services.store.handoffs.find(key))?.reason === "missed");
  } finally {
    await server.close();
  }
});

test("those that came while it was down are kept when it starts", async () => {
  const clock = createManualClock(Date.now());
  using directory = temporaryDirectory();
  const dataDir = directory.path;
  const first = await startTestServer({ clock, dataDir });
  const { key } = await ask(first, clock);
  await first.close();
  clock.advance(30_000);
  const second = await startTestServer({ clock, dataDir });
  try {
    await eventually(async () => (await second.services.store.handoffs.find(key))?.reason === "missed");
    expect(await second.services.store.handoffs.findNextDue()).toBeNull();
  } finally {
    await second.close();
    await dropEngineDatabase(dataDir);
  }
});
