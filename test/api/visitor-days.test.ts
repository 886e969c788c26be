/** Holds the daily limit of each verified visitor. */
import { expect, test } from "bun:test";
import { apiClient, expectProblem } from "../support/api-client.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { dropEngineDatabase } from "../support/engine.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openVerifiedWorld } from "../support/verified-world.ts";
import { signToken } from "../support/visitor-keys.ts";

const body = { message: "Hello" };

test("a visitor's day is their own, counted by sub, and outlives a restart", async () => {
  using directory = temporaryDirectory();
  const { path: dataDir } = directory;
  const world = await openVerifiedWorld({ dailyPerVisitor: 2 }, () => startTestServer({ dataDir }));
  const { companion, key, server } = world;
  expect((await world.say(await world.sign("ada"), { ...body, session_id: crypto.randomUUID() })).isDone).toBe(true);
  // What the provider refuses is given back.
  expect((await world.say(await world.sign("ada"), { message: "[[fail:400]]" })).status).toBe(502);
  // At once, and never more than are left.
  const ada = await world.sign("ada", { name: "Ada" });
  const both = await Promise.all([world.say(ada, body), world.say(ada, body)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 429]);
  const refused = await world.embed("POST", "/chat", ada, body);
  expectProblem(refused, 429, "quota_exceeded");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  // Others have theirs, and the anonymous have none of their own.
  expect((await world.say(await world.sign("ben"), body)).isDone).toBe(true);
  for (let i = 0; i < 3; i++) expect((await world.say(null, body)).isDone).toBe(true);
  await server.close();

  const again = await startTestServer({ dataDir });
  const { call } = apiClient(again.url, null);
  const chat = async (sub: string) => {
    const token = await signToken(key, companion.id, { sub });
    return await call("POST", `/api/embed/${companion.embedToken}/chat`, body, { "x-visitor-token": token });
  };
  expectProblem(await chat("ada"), 429, "quota_exceeded");
  expect((await chat("ben")).status).toBe(200);
  expectProblem(await chat("ben"), 429, "quota_exceeded");
  await again.services.store.companions.update(
    companion.accountId,
    companion.id,
    { dailyPerVisitor: null },
    testContext(),
  );
  expect((await chat("ben")).status).toBe(200);
  await again.close();
  await dropEngineDatabase(dataDir);
});

test("a visitor who was erased begins their day anew", async () => {
  const world = await openVerifiedWorld({ dailyPerVisitor: 1 });
  const token = await world.sign("ada");
  expect((await world.say(token, body)).isDone).toBe(true);
  expectProblem(await world.embed("POST", "/chat", token, body), 429, "quota_exceeded");
  expect((await world.owner.call("DELETE", `/api/companions/${world.companion.id}/visitors/ada`)).status).toBe(204);
  expect((await world.say(token, body)).isDone).toBe(true);
  expectProblem(await world.embed("POST", "/chat", token, body), 429, "quota_exceeded");
  await world.server.close();
});
