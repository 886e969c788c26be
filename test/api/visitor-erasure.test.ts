/** Holds that a visitor's website can have all of them forgotten, and that nobody reads of them in between. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectProblem } from "../support/api-client.ts";
import { startTestServer } from "../support/app.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";
import { openVerifiedWorld, type VerifiedWorld } from "../support/verified-world.ts";

const metricsToken = "a-token-of-the-metrics";
let world: VerifiedWorld;
beforeAll(async () => {
  world = await openVerifiedWorld({ dailyPerVisitor: 100, systemPrompt: "You speak to {{visitor.name}}." }, () =>
    startTestServer({ environment: { COMPANIOND_METRICS_TOKEN: metricsToken } }),
  );
});
afterAll(() => world.server.close());

const uuid = () => crypto.randomUUID();
const erase = (sub: string) =>
  world.owner.call("DELETE", `/api/companions/${world.companion.id}/visitors/${encodeURIComponent(sub)}`);

test("erasing a sub leaves nothing of them: words, name, e-mail, counters", async () => {
  const sub = `customer/${uuid()}`;
  const claims = { name: "Augusta Byron-King", email: "augusta@lovelace.example", attributes: { plan: "analytical" } };
  const words = "The engine weaves algebraical patterns.";
  const session_id = uuid();
  const token = await world.sign(sub, claims);
  for (let turn = 0; turn < 2; turn++) {
    expect((await world.say(token, { message: words, session_id, message_id: uuid() })).isDone).toBe(true);
  }
  expect((await world.say(await world.sign(`${sub}0`), { message: "Somebody else's words", session_id })).isDone).toBe(
    true,
  );
  const day = new Date().toISOString().slice(0, 10);
  const { store, visitors } = world.server.services;
  const id = (await visitors.findId(world.companion.accountId, sub)) ?? "";
  expect(await store.turns.countVisitorDay(world.companion.id, id, day)).toBe(2);

  // While it is kept, who they are is sealed.
  const before = await readStoredBytes(world.server.dataDir);
  expect(before).toContain(words);
  const { name, email, attributes } = claims;
  for (const known of [sub, name, email, attributes.plan]) expect(before).not.toContain(known);
  expect(
    (await world.owner.call("GET", `/api/conversations?visitor_sub=${encodeURIComponent(sub)}`)).json.data,
  ).toMatchObject([{ message_count: 4, visitor: { sub, ...claims } }]);

  expect((await erase(sub)).status).toBe(204);
  const after = await readStoredBytes(world.server.dataDir);
  for (const known of [words, sub, name, email, attributes.plan]) {
    expect(after).not.toContain(known);
  }
  expect(await store.turns.countVisitorDay(world.companion.id, id, day)).toBe(0);
  expect((await world.embed("GET", "/conversations", token)).json.data).toEqual([]);
  expect((await world.embed("GET", "/conversations", await world.sign(`${sub}0`))).json.data).toHaveLength(1);
  // They may come back, and begin anew.
  await world.say(token, { message: "Hello again", session_id });
  expect(JSON.stringify(world.lastPrompt())).not.toContain("algebraical");
});

test("a reply that runs while its visitor is erased leaves nothing, and is not found again", async () => {
  const [sub, session_id, message_id] = [uuid(), uuid(), uuid()];
  const token = await world.sign(sub);
  const { mockLlm } = world.server;
  const go = Promise.withResolvers<void>();
  mockLlm.respond(async (_, response) => {
    await response.write('data: {"choices":[{"delta":{"content":"Forgettable "}}]}\n\n');
    await go.promise;
    await response.write(
      'data: {"choices":[{"delta":{"content":"answer"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    );
    response.end();
  });
  const asked = mockLlm.requests.length;
  const reply = world.say(token, { message: "Forgettable question", session_id, message_id, resume: true });
  await mockLlm.until(() => mockLlm.requests.length > asked);
  expect((await erase(sub)).status).toBe(204);
  go.resolve();
  await reply;
  mockLlm.respond(null);
  expect(await readStoredBytes(world.server.dataDir)).not.toContain("Forgettable");
  expect((await world.embed("GET", "/conversations", token)).json.data).toEqual([]);
  const path = `/chat/${message_id}?session_id=${session_id}`;
  expectProblem(await world.embed("GET", path, token), 404, "not_found");
});

test("one name erases the verified visitor and the anonymous one, in any case of the id", async () => {
  const id = uuid();
  const session_id = uuid();
  await world.say(null, { message: "Anonymous words", session_id, visitor_id: id });
  await world.say(await world.sign(id), { message: "Verified words", session_id });
  await world.say(await world.sign(id.toUpperCase()), { message: "Other words", session_id });
  expect((await erase(id)).status).toBe(204);
  const stored = await readStoredBytes(world.server.dataDir);
  expect(stored).not.toContain("Anonymous words");
  expect(stored).not.toContain("Verified words");
  // A sub is text: in another case it is another visitor.
  expect(stored).toContain("Other words");
  await world.say(null, { message: "Once more", session_id, visitor_id: id });
  expect((await erase(id.toUpperCase())).status).toBe(204);
  expect(await readStoredBytes(world.server.dataDir)).not.toMatch(/Other words|Once more/);
});

test("takes any name of 1 to 255 characters", async () => {
  for (const sub of [
    "a/b",
    "/",
    "a b",
    "ü漢😀",
    "%2F",
    "%",
    "a?b#c",
    "sub:x",
    "x".repeat(255),
    "😀".repeat(255),
    "'; --",
  ]) {
    await world.say(await world.sign(sub), { message: "Odd words", session_id: uuid() });
    expect((await world.embed("GET", "/conversations", await world.sign(sub))).json.data).toHaveLength(1);
    expect({ sub, status: (await erase(sub)).status }).toEqual({ sub, status: 204 });
    expect((await world.embed("GET", "/conversations", await world.sign(sub))).json.data).toEqual([]);
  }
  for (const sub of ["a\0b", "x".repeat(256)]) expectProblem(await erase(sub), 404, "not_found");
});

test("nobody who erases a visitor by a step in a path deletes the companion", async () => {
  const { url, id } = { url: world.server.url, id: world.companion.id };
  for (const step of [".", ".."]) {
    const token = await world.sign(step);
    expectProblem(await world.embed("GET", "/conversations", token), 401, "visitor_unverified");
    // As clients send it: URLs have no such steps, however they are escaped.
    expect(new URL(`${url}/api/companions/${id}/visitors/${encodeURIComponent(step)}`).pathname).toEndWith("/");
    expectProblem(await erase(step), 404, "not_found");
  }
  expect((await world.owner.call("GET", `/api/companions/${id}`)).status).toBe(200);
});

test("neither log, audit nor metrics ever say who a visitor is", async () => {
  const sub = "logged-customer-99";
  const [name, email] = ["Logged Name", "logged@shop.example"];
  const token = await world.sign(sub, { name, email, attributes: { tier: "logged-tier" } });
  const forged = `${token.slice(0, -4)}AAAA`;
  const session_id = uuid();
  await world.say(token, { message: "Hello", session_id });
  await world.say(token, { message: "[[fail:400]] [[times:1]]", session_id });
  await world.say(forged, { message: "Hello", session_id });
  await world.embed("POST", "/visitor/merge", token, { session_id: uuid() });
  await world.owner.call("GET", `/api/conversations?visitor_sub=${sub}`);
  await world.owner.call("GET", "/api/conversations");
  await erase(sub);
  const { server } = world;
  const headers = { authorization: `Bearer ${metricsToken}` };
  const metrics = await (await fetch(`${server.url}/metrics`, { headers })).text();
  const audit = (await world.owner.call("GET", "/api/audit?limit=100")).text;
  const routes = server.log.events.filter(({ event }) => event === "request").map(({ fields }) => fields["route"]);
  expect(routes).toContain("/api/companions/:id/visitors/:sub");
  expect(metrics).toContain("visitors/:sub");
  for (const text of [server.log.text(), audit, metrics]) {
    for (const known of [sub, name, email, "logged-tier", token, forged, token.split(".")[1] ?? ""]) {
      expect(text).not.toContain(known);
    }
  }
});
