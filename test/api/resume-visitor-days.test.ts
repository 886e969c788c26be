/** Named messages and the day of a verified visitor. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { newMessage } from "../support/resumed-chat.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";

let world: VerifiedWorld;
beforeAll(async () => {
  world = await openVerifiedWorld({ dailyPerVisitor: 3 });
});
afterAll(() => world.server.close());

const anew = (message = "hello") => ({ message, session_id: crypto.randomUUID(), visitor_id: crypto.randomUUID() });

test("what the provider refused is given back, and what is repeated or run again counts once", async () => {
  const { server } = world;
  const token = await world.sign("cleo");
  for (let failed = 0; failed < 4; failed++) {
    expect((await world.say(token, anew("[[fail:400]]"))).status).toBe(502);
  }
  const message = newMessage({ message: "again", resume: false });
  server.mockLlm.respond((_, response) => response.closed);
  const lost = new AbortController();
  const init = { "content-type": "application/json", "x-visitor-token": token };
  const address = `${server.url}/api/embed/${world.companion.embedToken}/chat`;
  const asked = fetch(address, { method: "POST", headers: init, body: JSON.stringify(message), signal: lost.signal });
  await server.mockLlm.until(() => server.mockLlm.openRequests === 1);
  lost.abort();
  await expect(asked).rejects.toThrow();
  await eventually(() => server.services.openTurns.size === 0);
  server.mockLlm.respond(null);
  for (let repeated = 0; repeated < 3; repeated++) {
    expect((await world.say(token, message)).text).toBe("You said: again");
  }
  expect((await world.say(token, anew())).status).toBe(200);
  expect((await world.say(token, anew())).status).toBe(200);
  const refused = await world.say(token, anew());
  expect(JSON.parse(refused.raw)).toMatchObject({
    code: "quota_exceeded",
    detail: "You have sent all your messages here for today. Try again tomorrow.",
  });
  // Repeated, it needs no quota.
  expect((await world.say(token, message)).text).toBe("You said: again");
});
