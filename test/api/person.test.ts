/** `…/person`: visitors who ask for a person of the team, and go back (contract-3, section 10). */
import { describe, expect, spyOn, test } from "bun:test";
import type { Challenge } from "../../src/domain/challenge.ts";
import { openPeopleChat, type PeopleChat } from "../support/people-chat.ts";
import { solve } from "../support/solve.ts";

const uuid = () => crypto.randomUUID();

const askOf = ({ visitors, companion }: PeopleChat, body: object, headers = {}) =>
  visitors.call("POST", `/api/embed/${companion.embedToken}/person`, body, headers);
const backOf = ({ visitors, companion }: PeopleChat, query: string) =>
  visitors.call("DELETE", `/api/embed/${companion.embedToken}/person?${query}`);

describe("an ask for a person", () => {
  test("lets the conversation wait, before any message too; again it changes nothing", async () => {
    await using world = await openPeopleChat();
    const session_id = uuid();
    const asked = await askOf(world, { session_id, reason: "I want to talk to someone." });
    const waiting = {
      state: "waiting",
      until: expect.any(String) as string,
      available: true,
      reopens_at: null,
      contact: false,
    };
    expect(asked).toMatchObject({ status: 200, json: waiting });
    const { sinceMs } = (await world.find(session_id)) ?? {};
    expect(Date.parse(String(asked.json["until"]))).toBe((sinceMs ?? 0) + 120_000);
    expect((await askOf(world, { session_id })).json).toEqual(asked.json);
    expect(await world.sayPlainly("hello", { session_id })).toMatchObject({ text: "One moment.", isDone: true });
    expect(world.server.mockLlm.requests).toEqual([]);
  });

  test("leaves nobody waiting where no one is there, and counts as missed", async () => {
    const hours = { timezone: "Europe/Berlin", week: {}, closed: [] };
    const leads = { when: "unavailable" as const, consentText: "You may write to me.", replyTo: null };
    await using world = await openPeopleChat({ people: { when: "hours", hours }, leads });
    const session_id = uuid();
    const asked = await askOf(world, { session_id });
    const alone = { state: "companion", until: null, available: false, reopens_at: null, contact: true };
    expect(asked).toMatchObject({ status: 200, json: alone });
    expect(await world.find(session_id)).toMatchObject({ status: "open", missedAtMs: expect.any(Number) });
    expect((await world.say("hello", { session_id })).text).toBe("You said: hello");
  });

  test("is a conflict where visitors may not ask, and where the companion has no handoff", async () => {
    await using world = await openPeopleChat({ people: { ask: ["model"] } });
    const session_id = uuid();
    expect((await askOf(world, { session_id })).json).toMatchObject({
      code: "conflict",
      state: "companion",
      person: null,
    });
    const none = await world.server.createCompanion();
    const { visitors } = world;
    const path = `/api/embed/${none.embedToken}/person`;
    expect((await visitors.call("POST", path, { session_id })).status).toBe(409);
    expect((await visitors.call("DELETE", `${path}?session_id=${session_id}`)).status).toBe(409);
  });

  test("names what is at fault", async () => {
    await using world = await openPeopleChat();
    for (const body of [{}, { session_id: "x" }, { session_id: uuid(), reason: "x".repeat(501) }]) {
      expect((await askOf(world, body)).status).toBe(400);
    }
    expect((await backOf(world, "")).status).toBe(400);
    expect((await backOf(world, "session_id=x")).status).toBe(400);
  });

  test("is limited by address, if it changes something", async () => {
    await using world = await openPeopleChat({}, { environment: { COMPANIOND_ASKS_PER_IP: "2" } });
    const session_id = uuid();
    const statuses = [];
    for (let time = 0; time < 3; time++) statuses.push((await askOf(world, { session_id })).status);
    statuses.push((await askOf(world, { session_id: uuid() })).status);
    expect(statuses).toEqual([200, 200, 200, 200]);
    const refused = await askOf(world, { session_id: uuid() });
    expect(refused.json).toMatchObject({ code: "rate_limited" });
    expect(refused.headers.get("ratelimit")).toContain('"person";r=0');
    expect((await backOf(world, `session_id=${session_id}`)).status).toBe(204);
    // The platform's door has no limit by address.
    const relayed = `/api/companions/${world.companion.id}/person`;
    expect((await world.owner.call("POST", relayed, { session_id: uuid() })).status).toBe(200);
  });

  test("is limited, too, where all that it changes is that a closed conversation is open again", async () => {
    const hours = { timezone: "Europe/Berlin", week: {}, closed: [] };
    const people = { when: "hours" as const, hours };
    await using world = await openPeopleChat({ people }, { environment: { COMPANIOND_ASKS_PER_IP: "1" } });
    const session_id = uuid();
    await askOf(world, { session_id });
    expect((await askOf(world, { session_id })).status).toBe(200);
    await world.server.services.people.update(await world.placeOf(session_id), { status: "closed" });
    expect((await askOf(world, { session_id })).json).toMatchObject({ code: "rate_limited" });
    expect(await world.find(session_id)).toMatchObject({ status: "closed" });
  });

  test("takes a proof of work where the companion asks for one, for what changes something", async () => {
    await using world = await openPeopleChat({ challenge: "always" });
    const session_id = uuid();
    const refused = await askOf(world, { session_id });
    expect(refused.json).toMatchObject({ code: "challenge_required" });
    const solution = solve(refused.json["challenge"] as Challenge);
    expect((await askOf(world, { session_id }, { "x-challenge": solution })).status).toBe(200);
    expect((await askOf(world, { session_id: uuid() }, { "x-challenge": solution })).status).toBe(403);

    // It waited for a person when the request came, and does no more when it is decided on.
    const again = { "x-challenge": solve((await askOf(world, { session_id })).json["challenge"] as Challenge) };
    expect((await askOf(world, { session_id }, again)).json).toMatchObject({ state: "waiting" });
    const { handoffs } = world.server.services.store;
    using _ = spyOn(handoffs, "find").mockResolvedValueOnce(await world.find(session_id));
    await backOf(world, `session_id=${session_id}`);
    expect((await askOf(world, { session_id }, again)).json).toMatchObject({ state: "waiting" });
    expect((await askOf(world, { session_id }, again)).status).toBe(403);
  });
});

test("going back gives the conversation to the companion again, also from a person", async () => {
  await using world = await openPeopleChat();
  const session_id = uuid();
  await askOf(world, { session_id });
  expect((await backOf(world, `session_id=${session_id}`)).status).toBe(204);
  expect((await world.say("hello", { session_id })).text).toBe("You said: hello");
  await world.take(session_id);
  expect((await backOf(world, `session_id=${session_id}`)).status).toBe(204);
  expect(await world.find(session_id)).toMatchObject({ state: "companion", reason: "visitor" });
  expect((await backOf(world, `session_id=${uuid()}`)).status).toBe(204);
});

test("a platform asks and goes back for the visitor it vouches for, and for no other", async () => {
  await using world = await openPeopleChat();
  const { owner, companion } = world;
  const session_id = uuid();
  const path = `/api/companions/${companion.id}/person`;
  const visitor = { sub: "user-42", name: "Ada" };
  expect((await owner.call("POST", path, { session_id, visitor })).json).toMatchObject({ state: "waiting" });
  expect((await world.say("hello", { session_id })).text).toBe("You said: hello");
  const chatPath = `/api/companions/${companion.id}/chat`;
  const say = async () => (await owner.call("POST", chatPath, { message: "hello", session_id, visitor })).text;
  expect(await say()).toContain("One moment.");
  expect((await owner.call("DELETE", `${path}?session_id=${session_id}&visitor_sub=nobody`)).status).toBe(204);
  expect(await say()).toContain("One moment.");
  expect((await owner.call("DELETE", `${path}?session_id=${session_id}&visitor_sub=user-42`)).status).toBe(204);
  expect(await say()).toContain("hello");
});

test("the configuration shows whether somebody is there, and only where people may step in", async () => {
  await using world = await openPeopleChat({ people: { mode: "asked", when: "present" } });
  const { visitors, companion, server, owner } = world;
  const read = async (token: string) => (await visitors.call("GET", `/api/embed/${token}`)).json;
  expect((await read(companion.embedToken)).handoff).toEqual({
    ...{ available: false, reopens_at: null, ask: true, listen: false },
  });
  const patch = { handoff: { mode: "any", when: "always", ask: ["model"] } };
  expect((await owner.call("PATCH", `/api/companions/${companion.id}`, patch)).status).toBe(200);
  expect((await read(companion.embedToken)).handoff).toEqual({
    ...{ available: true, reopens_at: null, ask: false, listen: true },
  });
  const { embedToken } = await server.createCompanion();
  expect(await read(embedToken)).not.toHaveProperty("handoff");
});
