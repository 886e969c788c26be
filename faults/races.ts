/** Many concurrent requests at every limit and every one-time action: never one too many, never one too few. */
import { chat } from "../test/support/chat.ts";
import { apiFaults, createClient } from "./client.ts";
import { type FaultRow, Tally } from "./row.ts";
import { clientOf, listAll, makeCompanion, makeOwner, type Owner, openWorld, runJson, type World } from "./world.ts";

const rounds = { tiny: 1, short: 10, long: 10 };
/** Of one companion, each with twelve messages. */
const visitors = { tiny: 12, short: 40, long: 40 };
const perToken = 30;
const perIp = 10;
const perKey = 40;
const perDay = 25;

export const racesRow: FaultRow = {
  name: "races",
  title: "concurrent requests at every limit",
  story:
    "Many requests at the same instant to everything that may be used only so often: rate limits, the daily " +
    "quota (also across a kill), a conversation's queue, one-time links, retries, a key that is revoked while " +
    "in use. The number admitted must be exact each time.",
  async run({ form }) {
    const tally = new Tally([...apiFaults, ...verdicts]);
    await using world = await openWorld({
      env: {
        COMPANIOND_RATE_PER_TOKEN: String(perToken),
        COMPANIOND_RATE_PER_IP: String(perIp),
        COMPANIOND_RATE_PER_KEY: "1000000",
        COMPANIOND_DAILY_FREE: String(perDay),
      },
    });
    const owner = await makeOwner(world, tally, "races");
    for (let round = 0; round < rounds[form]; round++) {
      await raceAddress(world, owner, tally, round);
      await raceToken(world, owner, tally);
      await raceRetries(owner, tally);
      await raceLink(world, owner, tally);
      await raceRevocation(world, owner, tally);
    }
    await raceKeyLimit(tally);
    await raceQuota(tally, rounds[form], visitors[form]);
    return tally.outcome();
  },
};

const verdicts = [
  "limits by address that admitted a wrong number",
  "limits by token that admitted a wrong number",
  "limits by key that admitted a wrong number",
  "quotas that admitted a wrong number",
  "queues that admitted a wrong number",
  "retries that created a wrong number",
  "links that were spent a wrong number of times",
  "calls admitted after their key was revoked",
] as const;

function expectCount(tally: Tally, what: (typeof verdicts)[number], counted: number, expected: number): void {
  if (counted !== expected) tally.fault(what, `${counted} instead of ${expected}`);
}

let addresses = 0;
/** An address that nobody else uses. */
function nextAddress(): string {
  addresses++;
  return `100.64.${addresses >> 8}.${addresses & 255}`;
}

async function countAdmitted(
  url: string,
  tally: Tally,
  token: string,
  count: number,
  address: () => string,
): Promise<number> {
  const anyone = createClient(url, {}, tally);
  const responses = await Promise.all(
    Array.from({ length: count }, () =>
      anyone.send({ method: "GET", path: `/api/embed/${token}`, headers: { "x-forwarded-for": address() } }),
    ),
  );
  return responses.filter(({ status }) => status === 200).length;
}

async function raceAddress(world: World, owner: Owner, tally: Tally, round: number): Promise<void> {
  const { token } = await makeCompanion(owner.client);
  // In every second race the requests come from one IPv6 visitor, who has a whole /64 to choose from.
  let host = 0;
  const own = nextAddress();
  const address = round % 2 === 0 ? () => own : () => `2001:db8:${round}:1::${(++host).toString(16)}`;
  const admitted = await countAdmitted(world.url, tally, token, 100, address);
  tally.did("races: 100 requests of one address");
  expectCount(tally, "limits by address that admitted a wrong number", admitted, perIp);
}

async function raceToken(world: World, owner: Owner, tally: Tally): Promise<void> {
  const { token } = await makeCompanion(owner.client);
  const admitted = await countAdmitted(world.url, tally, token, 150, nextAddress);
  tally.did("races: 150 addresses at one token");
  expectCount(tally, "limits by token that admitted a wrong number", admitted, perToken);
}

async function raceRetries({ client }: Owner, tally: Tally): Promise<void> {
  const name = crypto.randomUUID();
  const call = { method: "POST", path: "/api/companions", body: { name }, headers: { "idempotency-key": name } };
  const responses = await Promise.all(Array.from({ length: 50 }, () => client.send(call)));
  tally.did("races: 50 retries of one call");
  const made = new Set(responses.filter(({ status }) => status === 201).map(({ json }) => json.id));
  const { json } = await client.send({ method: "GET", path: `/api/companions?q=${name}` });
  expectCount(tally, "retries that created a wrong number", made.size, 1);
  expectCount(tally, "retries that created a wrong number", json.data.length, 1);
}

async function raceLink(world: World, { email }: Owner, tally: Tally): Promise<void> {
  const { url = "" } = await runJson(world.server.dataDir, ["account", "reset-link", email]);
  const secret = url.slice(url.indexOf("#") + 1);
  const anyone = createClient(world.url, {}, tally);
  const responses = await Promise.all(
    Array.from({ length: 10 }, () =>
      anyone.send({
        method: "POST",
        path: "/api/session/password-reset",
        body: { secret, password: "another horse battery" },
        headers: { "x-forwarded-for": nextAddress() },
      }),
    ),
  );
  tally.did("races: 10 at one link");
  const spent = responses.filter(({ status }) => status === 201).length;
  expectCount(tally, "links that were spent a wrong number of times", spent, 1);
}

async function raceRevocation(world: World, { client }: Owner, tally: Tally): Promise<void> {
  const body = { name: "soon revoked", scopes: ["companions:read"] };
  const { json } = await client.send({ method: "POST", path: "/api/keys", body });
  const user = clientOf(world, tally, json.key);
  let isRevoked = false;
  const use = async () => {
    for (let call = 0; call < 20; call++) {
      const wasRevoked = isRevoked;
      const { status } = await user.send({ method: "GET", path: "/api/companions?limit=1" });
      if (wasRevoked && status !== 401) tally.fault("calls admitted after their key was revoked", `${status}`);
    }
  };
  const revoke = async () => {
    await client.send({ method: "DELETE", path: `/api/keys/${json.id}` });
    isRevoked = true;
  };
  await Promise.all([use(), use(), use(), use(), revoke()]);
  tally.did("races: a key revoked while in use");
}

/** On separate servers: these limits would get in the way of everything else. */
async function raceKeyLimit(tally: Tally): Promise<void> {
  await using world = await openWorld({ env: { COMPANIOND_RATE_PER_KEY: String(perKey) } });
  const { client } = await makeOwner(world, tally, "key-limit");
  const calls = Array.from({ length: 200 }, () => client.send({ method: "GET", path: "/api/keys" }));
  const admitted = (await Promise.all(calls)).filter(({ status }) => status === 200).length;
  tally.did("races: 200 calls with one key");
  expectCount(tally, "limits by key that admitted a wrong number", admitted, perKey);
}

async function raceQuota(tally: Tally, times: number, visitorCount: number): Promise<void> {
  await using world = await openWorld({ env: { COMPANIOND_DAILY_FREE: String(perDay) } });
  const { client } = await makeOwner(world, tally, "quota");
  for (let round = 0; round < times; round++) {
    const { token, id } = await makeCompanion(client);
    // The provider refuses every third message, which gives its place back; later messages use that place.
    let replies = 0;
    let sent = 0;
    const visitor = async () => {
      for (let message = 0; message < 12; message++) {
        const isRefused = sent++ % 3 === 0;
        const response = await chat(world.url, token, { message: isRefused ? "[[fail:400]]" : "hello" });
        if (response.isDone) replies++;
      }
    };
    await Promise.all(Array.from({ length: visitorCount }, visitor));
    tally.did(`races: ${visitorCount * 12} messages at one day's quota`);
    expectCount(tally, "quotas that admitted a wrong number", replies, perDay);
    expectCount(tally, "quotas that admitted a wrong number", (await countKept(client, id)).messages, perDay);
    await raceQueue(world, client, tally);
  }
  // The count is durable: a restart admits no more.
  const { token } = await makeCompanion(client);
  for (let message = 0; message < perDay; message++) await chat(world.url, token, { message: "hello" });
  await world.server.kill();
  await world.restart();
  const after = await chat(world.url, token, { message: "hello" });
  expectCount(tally, "quotas that admitted a wrong number", after.isDone ? perDay + 1 : perDay, perDay);
  tally.did("races: a day's quota over a kill");
}

/** One turn runs and three wait; all others are refused. */
async function raceQueue(world: World, client: Owner["client"], tally: Tally): Promise<void> {
  const { token, id } = await makeCompanion(client);
  const sessionId = crypto.randomUUID();
  const release = Promise.withResolvers<void>();
  world.mock.respond(async (request, response) => {
    await release.promise;
    response.send(200, { "Content-Type": "text/event-stream" }, reply(request.userText));
  });
  let refused = 0;
  const responses = Array.from({ length: 20 }, async (_, index) => {
    const response = await chat(world.url, token, { message: `message ${index}`, session_id: sessionId });
    if (response.status === 429 && ++refused === 16) release.resolve();
    return response;
  });
  // If too few were refused, this would wait forever: after ten seconds the rest go through, and the count shows it.
  const patience = setTimeout(() => release.resolve(), 10_000);
  const done = (await Promise.all(responses)).filter((response) => response.isDone).length;
  clearTimeout(patience);
  world.mock.respond(null);
  tally.did("races: 20 turns of one conversation");
  expectCount(tally, "queues that admitted a wrong number", done, 4);
  expectCount(tally, "queues that admitted a wrong number", (await countKept(client, id)).messages, 4);
}

function reply(text: string): string {
  const event = { choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }] };
  return `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
}

async function countKept(client: Owner["client"], companionId: string): Promise<{ messages: number }> {
  let messages = 0;
  for (const { id } of await listAll(client, `/api/companions/${companionId}/conversations`)) {
    const { json } = await client.send({ method: "GET", path: `/api/conversations/${id}` });
    messages += (json.messages as { role: string }[]).filter(({ role }) => role === "user").length;
  }
  return { messages };
}
