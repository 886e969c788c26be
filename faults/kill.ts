/** Kill -9 at random points under mixed load and during start-up: everything acknowledged is there afterwards. */
import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { chat } from "../test/support/chat.ts";
import { eventually } from "../test/support/eventually.ts";
import { executablePath } from "../test/support/executable.ts";
import { apiFaults, type Client } from "./client.ts";
import { Expected } from "./kill-expected.ts";
import { type FaultRow, type RowContext, Tally } from "./row.ts";
import { clientOf, makeCompanion, makeOwner, openWorld, type World } from "./world.ts";

const kills = { tiny: 6, short: 200, long: 200 };

export const killRow: FaultRow = {
  name: "kill",
  title: "kill -9 under mixed load",
  story:
    "Ten visitors chat and four servers of a platform create, change, delete and revoke, until the process is " +
    "killed at a random moment; one time in four it is killed again while it starts. After all kills every " +
    "response that a client received is checked: what was acknowledged must exist, what was deleted or revoked " +
    "must be gone.",
  async run(context) {
    const tally = new Tally([...apiFaults, ...Expected.faults, "failed starts after a kill", "integrity problems"]);
    await using world = await openWorld();
    const owner = await makeOwner(world, tally, "kill");
    const companion = await makeCompanion(owner.client);
    const expected = new Expected(companion);
    for (let round = 0; round < kills[context.form]; round++) {
      if (round > 0) await start(world, tally);
      await loadAndKill(world, tally, context, expected, owner.key);
      if (context.random.below(4) === 0) await killDuringStart(world, tally, context);
      if (round % 20 === 19) {
        checkIntegrity(world.server.dataDir, tally);
        context.say(`${round + 1} kills`);
      }
    }
    checkIntegrity(world.server.dataDir, tally);
    await start(world, tally);
    await expected.verify(clientOf(world, tally, owner.key), tally);
    return tally.outcome();
  },
};

async function start(world: World, tally: Tally): Promise<void> {
  await world.restart().catch((error: unknown) => {
    tally.fault("failed starts after a kill", String(error));
    throw error;
  });
}

/** Ten visitors and four platform servers at work, until a random number of responses has arrived. */
async function loadAndKill(
  world: World,
  tally: Tally,
  { random }: RowContext,
  expected: Expected,
  key: string,
): Promise<void> {
  let isOver = false;
  let responses = 0;
  const work = (step: () => Promise<void>) => async () => {
    while (!isOver) {
      // Calls cut off by the kill have no response: nothing was acknowledged.
      await step().then(
        () => responses++,
        () => Bun.sleep(1),
      );
    }
  };
  const client = clientOf(world, tally, key);
  const workers = [
    ...Array.from({ length: 10 }, () => work(visitorOf(world.url, expected, tally))()),
    ...Array.from({ length: 4 }, () => work(() => manage(client, expected, random.below(6), tally))()),
  ];
  const enough = random.below(150);
  await eventually(() => responses >= enough, { everyMs: 1 });
  // Kill between two responses too, not only at one.
  for (let turns = random.below(200); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  await world.server.kill();
  tally.did("kills under load");
  isOver = true;
  await Promise.all(workers);
}

function visitorOf(url: string, expected: Expected, tally: Tally): () => Promise<void> {
  const sessionId = crypto.randomUUID();
  return async () => {
    const message = expected.nextMessage();
    const response = await chat(url, expected.companion.token, { message, session_id: sessionId });
    if (!response.isDone) return;
    tally.did("replies acknowledged");
    expected.messages.push({ sessionId, message, reply: response.text });
  };
}

async function manage(client: Client, expected: Expected, what: number, tally: Tally): Promise<void> {
  const name = expected.nextMessage();
  const path = "/api/companions";
  const older = expected.oneOfCompanions(what);
  if (what < 2 || older === undefined) {
    const { status, json } = await client.send({ method: "POST", path, body: { name, metadata: { name } } });
    if (status === 201) expected.companions.set(json.id, name);
  } else if (what === 2) {
    // Its state is unknown until the response arrives.
    expected.companions.delete(older);
    const { status } = await client.send({ method: "DELETE", path: `${path}/${older}` });
    if (status === 204) expected.deleted.add(older);
  } else if (what === 3) {
    expected.companions.delete(older);
    const { status } = await client.send({ method: "PATCH", path: `${path}/${older}`, body: { name } });
    if (status === 200) expected.companions.set(older, name);
  } else if (what === 4) {
    const made = await client.send({ method: "POST", path: `${path}/${expected.companion.id}/embed-tokens` });
    if (made.status !== 201) return;
    const own = `${path}/${expected.companion.id}/embed-tokens/${made.json.id}`;
    const { status } = await client.send({ method: "DELETE", path: own });
    if (status === 204) expected.revoked.add(made.json.token);
  } else {
    const made = await client.send({ method: "POST", path: "/api/keys", body: { name, scopes: ["companions:read"] } });
    if (made.status !== 201) return;
    const { status } = await client.send({ method: "DELETE", path: `/api/keys/${made.json.id}` });
    if (status === 204) expected.revokedKeys.add(made.json.key);
  }
  tally.did("management calls acknowledged");
}

/** While the server recovers and migrates, before it listens. */
async function killDuringStart(world: World, tally: Tally, { random }: RowContext): Promise<void> {
  const child = Bun.spawn([executablePath, "serve", "--port", "0", "--data-dir", world.server.dataDir], {
    env: {},
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  await Bun.sleep(random.below(150));
  child.kill("SIGKILL");
  await child.exited;
  tally.did("kills during a start");
}

function checkIntegrity(dataDir: string, tally: Tally): void {
  const file = readdirSync(dataDir).find((name) => name.endsWith(".db")) ?? "";
  const database = new Database(join(dataDir, file), { readwrite: true, create: false });
  tally.did("integrity checks");
  const problems = database.query<Record<string, string>, []>("PRAGMA integrity_check").all();
  for (const problem of problems.flatMap((row) => Object.values(row))) {
    if (problem !== "ok") tally.fault("integrity problems", problem);
  }
  database.close();
}
