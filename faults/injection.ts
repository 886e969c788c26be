/** Hostile payloads in every stored field: stored and shown as plain text, with no other effect. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { runExecutable } from "../test/support/executable.ts";
import { startMockElevenLabs } from "../test/support/mock-elevenlabs.ts";
import { chunk, doneMark } from "../test/support/mock-llm-replies.ts";
import { listChanges, makeBelongings, readBelongings } from "./belongings.ts";
import { apiFaults } from "./client.ts";
import { payloadFaults } from "./injection-notes.ts";
import { readShapes } from "./injection-pages.ts";
import type { InjectionWorld } from "./injection-world.ts";
import { PayloadWriter } from "./injection-writes.ts";
import { payloads } from "./payloads.ts";
import { type FaultRow, type RowContext, Tally } from "./row.ts";
import { inParallel, listAll, makeCompanion, makeOwner, openWorld, signIn, type World } from "./world.ts";

const counts = { tiny: 12, short: payloads.length, long: payloads.length };
const width = 4;
const webhookSecret = "wsec_of_the_operator";

const faults = [
  "log lines that are not the program's own",
  "payloads in the log",
  "control characters on the operator's terminal",
  "names that the audit trail lost or changed",
  "resources of another account changed",
  "integrity problems",
  "tables changed",
] as const;

export const injectionRow: FaultRow = {
  name: "injection",
  title: "injection payloads in every stored field",
  story:
    "Fragments of SQL, HTML, scripts, templates, paths, shell commands, formulas, format strings, log lines and" +
    " JSON, line breaks, bidirectional marks and look-alike characters, each in every stored field: companions " +
    "and their metadata (keys too), visitors' messages, replies, voice transcripts, names of keys and tokens, " +
    "browsers' names, idempotency keys, and fields that accept only some texts. Each is read back from the API " +
    "by key and by cookie, from conversations, searches, CSV, the audit trail, the hosted page, its manifest " +
    "and policy, the avatar, the config, the voice provider, the terminal and the log.",
  async run(context) {
    const tally = new Tally([...apiFaults, ...payloadFaults, ...faults]);
    const voice = await startMockElevenLabs();
    await using world = await openWorld({
      env: {
        ELEVENLABS_API_KEY: voice.apiKey,
        ELEVENLABS_BASE_URL: voice.url,
        ELEVENLABS_WEBHOOK_SECRET: webhookSecret,
      },
    });
    // The model repeats what the visitor said, so that replies are stored too.
    world.mock.respond(async ({ userText }, response) => {
      await response.write(chunk({ content: userText }) + chunk({ finishReason: "stop" }) + doneMark);
      response.end();
    });
    const bystander = await makeBelongings(world, tally, "bystander", "Unaffected");
    const before = await readBelongings(bystander);
    const tables = readTables(world.server.dataDir);

    // An operator may name every voice agent.
    const owner = await makeOwner(world, tally, "injection", "operator");
    const operator = await makeOwner(world, tally, "operator", "operator");
    const plain = await makeCompanion(owner.client, { greeting: "Hello", starters: ["Hi"], voice_id: "plain" });
    const of: InjectionWorld = {
      world,
      voice,
      webhookSecret,
      key: owner.client,
      cookie: await signIn(world, tally, owner.email),
      operator: await signIn(world, tally, operator.email),
      email: owner.email,
      shapes: await readShapes(world.url, plain.token),
      tally,
    };
    const chosen = choose(context);
    await inParallel(chosen, width, async (payload, index) => {
      await new PayloadWriter(of, payload, index).writeAll();
      tally.did("payloads");
      if (index % 50 === 49) context.say(`${index + 1} payloads`);
    });

    await checkAudit(of, chosen);
    await checkTerminal(world, owner.email, tally);
    for (const change of listChanges(before, await readBelongings(bystander))) tally.fault(faults[4], change);
    tally.equal("exit code after SIGTERM", await world.server.stop(), 0);
    checkLog(world, chosen, tally);
    checkDatabase(world, tables, tally);
    await voice.close();
    return tally.outcome();
  },
};

/** All payloads, or some of each kind. */
function choose({ form, random }: RowContext): string[] {
  const step = payloads.length / counts[form];
  const start = random.next() * step;
  return Array.from({ length: counts[form] }, (_, index) => payloads[Math.floor(start + index * step)] ?? "").filter(
    (payload) => payload !== "",
  );
}

/** The audit log contains the names of companions, keys and embed tokens. */
async function checkAudit({ key, tally }: InjectionWorld, chosen: readonly string[]): Promise<void> {
  const entries = await listAll(key, "/api/audit");
  for (const action of ["companion.create", "key.create", "embed_token.create"]) {
    const names = new Set(entries.flatMap((one) => (one.action === action ? [(one.details as Named).name] : [])));
    for (const payload of chosen) {
      tally.did("names looked for in the audit trail");
      if (!names.has(payload)) tally.fault(faults[3], `${action}: ${JSON.stringify(payload)}`);
    }
  }
}

interface Named {
  name: string;
}

async function checkTerminal({ server }: World, email: string, tally: Tally): Promise<void> {
  for (const noun of ["companion", "key"]) {
    const { stdout } = await runExecutable([noun, "list", "--account", email, "--data-dir", server.dataDir]);
    const lines = stdout.trimEnd().split("\n");
    tally.did("lines on the operator's terminal", lines.length);
    for (const line of lines) if (/\p{Cc}/u.test(line)) tally.fault(faults[2], JSON.stringify(line));
  }
}

/** One object per line, with an event name from the sources; no payload appears in any of them. */
function checkLog({ server }: World, chosen: readonly string[], tally: Tally): void {
  const lines = server.stdout.split("\n").filter((line) => line !== "");
  tally.did("log lines", lines.length);
  for (const line of lines) {
    const event = readEvent(line);
    if (event === null || !/^[a-z][a-z ,:-]*$/.test(event) || event.includes("pwned")) tally.fault(faults[0], line);
  }
  const printed = server.stdout + server.stderr;
  for (const payload of chosen) {
    // Short payloads are ordinary words.
    const forms = [payload, JSON.stringify(payload).slice(1, -1)];
    if (payload.length > 9 && forms.some((form) => printed.includes(form))) tally.fault(faults[1], payload);
  }
}

function readEvent(line: string): string | null {
  try {
    const { event } = JSON.parse(line) as { event?: unknown };
    return typeof event === "string" ? event : null;
  } catch {
    return null;
  }
}

function readTables(dataDir: string): string {
  using database = new Database(join(dataDir, "companiond.db"), { readonly: true });
  return JSON.stringify(database.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").all());
}

function checkDatabase({ server }: World, tables: string, tally: Tally): void {
  if (readTables(server.dataDir) !== tables) tally.fault(faults[6], readTables(server.dataDir));
  using database = new Database(join(server.dataDir, "companiond.db"), { readwrite: true, create: false });
  const problems = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  for (const { integrity_check } of problems) if (integrity_check !== "ok") tally.fault(faults[5], integrity_check);
  for (const row of database.query("PRAGMA foreign_key_check").all()) tally.fault(faults[5], JSON.stringify(row));
}
