/** Knowledge in SQLite: nothing of what a source said is left in any file, in bounded commits and bounded tables. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { maxAskings } from "../../src/domain/knowledge.ts";
import { unembeddedQueries } from "../../src/engines/sqlite/knowledge-editions.ts";
import { knowledgeIndexQueries } from "../../src/engines/sqlite/knowledge-index.ts";
import { sourceQueueQueries } from "../../src/engines/sqlite/knowledge-queue.ts";
import { unansweredQueries } from "../../src/engines/sqlite/unanswered.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import {
  claimNext,
  makeSource,
  newFacts,
  newUpload,
  publishNext,
  readUpload,
  writeEdition,
} from "../support/indexed-source.ts";
import { settleNotedTurn } from "../support/noted-turn.ts";
import { createRandom } from "../support/random.ts";
import { openTemporaryStore } from "../support/sqlite-store.ts";
import { firstPage, openWorld, type StoreWorld } from "../support/store-world.ts";

let world: StoreWorld;
let dataDir: string;
let account: Account;
let companion: Companion;
beforeEach(async () => {
  const opened = await openTemporaryStore();
  dataDir = opened.dataDir;
  world = await openWorld(async () => opened);
  account = await world.createAccount();
  companion = await world.createCompanion(account);
});
afterEach(() => world.close());

/** All markers that stand anywhere in the files. */
function findMarkers(): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(dataDir)) {
    for (const [marker] of readFileSync(join(dataDir, name), "latin1").matchAll(/<\d+>/g)) found.add(marker);
  }
  return found;
}

function run<Row>(sql: string): Row[] {
  using database = new Database(join(dataDir, "companiond.db"));
  database.run("PRAGMA busy_timeout = 5000");
  return database.query<Row, []>(sql).all();
}

test("no words of a deleted or replaced source are left in any file, whatever was written around them", async () => {
  const { knowledge } = world.store;
  const random = createRandom(7);
  const living = new Map<string, string>();
  let made = 0;
  // From rows that fit into a shared page to such as fill many; the marker stands everywhere in them.
  const makeWords = (marker: string) => marker.repeat(1 + random.below(random.below(8) === 0 ? 4_000 : 800));
  const makeUpload = (marker: string) => newUpload(makeWords(marker));
  const makeTexts = (marker: string) => Array.from({ length: 1 + random.below(4) }, () => makeWords(marker));

  async function removeSome(): Promise<void> {
    for (const [id, marker] of [...living]) {
      if (random.below(2) === 0) continue;
      if (random.below(3) === 0) {
        const anew = `<${++made}>`;
        await knowledge.replace(account.id, companion.id, id, { upload: makeUpload(anew) }, world.context());
        await publishNext(world, makeTexts(anew));
        living.set(id, anew);
      } else {
        await knowledge.delete(account.id, companion.id, id, world.context());
        living.delete(id);
      }
      expect([...living.values()]).not.toContain(marker);
    }
  }

  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 12; at++) {
      const marker = `<${++made}>`;
      const { id } = await makeSource(world, companion, { upload: makeUpload(marker) });
      living.set(id, marker);
      if (at % 4 > 0) await publishNext(world, makeTexts(marker));
      else await world.store.knowledge.delete(account.id, companion.id, id, world.context());
      if (at % 4 === 0) living.delete(id);
    }
    await removeSome();
    const kept = new Set(living.values());
    await eventually(() => run("SELECT 1 FROM removals").length === 0);
    await eventually(() => findMarkers().isSubsetOf(kept));
    expect(findMarkers()).toEqual(kept);
  }
  await world.store.companions.delete(account.id, companion.id, world.context());
  await eventually(() => findMarkers().size === 0);
});

test("words stand in no page that rows share, however long they are: such pages leave stale copies", async () => {
  await makeSource(world, companion);
  const edition = (await world.store.knowledge.openEdition(await claimNext(world), null, 1)) ?? -1;
  const toText = (length: number) => "<1>".repeat(4).padEnd(length, "<1>");
  // In steps that meet every remainder of a page's 4092 bytes by one of three.
  const lengths = Array.from({ length: 1400 }, (_, at) => 1 + 3 * at);
  const parts = lengths.map((length, at) => {
    return { firstOrdinal: at, chunks: [{ page: null, heading: null, text: toText(length) }] };
  });
  await world.store.knowledge.append(edition, { parts });
  const uploads = lengths.filter((_, at) => at % 50 === 0).map((length) => newUpload(toText(length)));
  await Promise.all(uploads.map((upload) => makeSource(world, companion, { upload })));
  await world.store.close();
  const file = readFileSync(join(dataDir, "companiond.db"));
  let shared = 0;
  let words = 0;
  for (let at = 0; at < file.length; at += 4096) {
    const page = file.subarray(at, at + 4096);
    // A page of rows says so in its first byte; one that holds the rest of a row begins with the next one's number.
    const isShared = [2, 5, 10, 13].includes(page[0] ?? 0);
    if (isShared) shared++;
    if (isShared) expect(page.includes("<1>")).toBe(false);
    else if (page.includes("<1>")) words++;
  }
  expect(shared).toBeGreaterThan(100);
  expect(words).toBeGreaterThan(lengths.length);
});

test("words of an edition that was only begun are erased with its source", async () => {
  const { id } = await makeSource(world, companion, { upload: newUpload("<1>".repeat(300_000)) });
  const claimed = await claimNext(world);
  await writeEdition(world, claimed, ["<2>".repeat(9_000)]);
  expect(findMarkers()).toEqual(new Set(["<1>", "<2>"]));
  await world.store.knowledge.delete(account.id, companion.id, id, world.context());
  await eventually(() => findMarkers().size === 0);
});

test("a long edition is removed in several commits, while others go on", async () => {
  const { knowledge } = world.store;
  const { id } = await makeSource(world, companion);
  const claimed = await claimNext(world);
  const edition = await writeEdition(world, claimed, ["first"]);
  for (let at = 1; at <= 5; at++) {
    const postings = Array.from({ length: 700 }, (_, term) => ({ block: at, term, entries: new Uint8Array(2) }));
    const parts = [{ firstOrdinal: at, chunks: [{ page: null, heading: null, text: "x".repeat(600_000) }] }];
    await knowledge.append(edition, { postings, parts });
  }
  await knowledge.publish(claimed, edition, newFacts({ chunks: 6 }), 1);
  const before = run<{ rows: number }>("SELECT count(*) AS rows FROM knowledge_postings")[0]?.rows ?? 0;
  expect(before).toBe(3501);
  await knowledge.delete(account.id, companion.id, id, world.context());
  const left = run<{ rows: number }>("SELECT count(*) AS rows FROM knowledge_postings")[0]?.rows ?? 0;
  expect(left).toBe(before);
  for (const table of ["postings", "parts", "documents", "editions", "vectors", "uploads", "sources"]) {
    await eventually(() => run(`SELECT 1 FROM knowledge_${table} LIMIT 1`).length === 0);
  }
  await eventually(() => run("SELECT 1 FROM removals").length === 0);
});

test("pieces of an upload whose server has ended are removed after an hour", async () => {
  const upload = newUpload("<1>".repeat(400_000));
  const { id } = await makeSource(world, companion, { upload });
  run(`UPDATE knowledge_sources SET upload_id = NULL WHERE id = '${id}'`);
  const nowMs = world.clock.nowMs();
  expect(await world.store.knowledge.purge(nowMs + 3_599_999, 10)).toBe(0);
  expect(await world.store.knowledge.purge(nowMs + 3_600_000, 10)).toBe(1);
  await eventually(async () => (await readUpload(world, upload.id)) === null);
});

test("of what turns found, nothing is left of conversations that are deleted, erased or too old", async () => {
  const { conversations } = world.store;
  const shortly = await world.createCompanion(account, { retentionDays: 1 });
  const deleted = await settleNotedTurn(world, companion);
  const erased = await settleNotedTurn(world, companion);
  const kept = await settleNotedTurn(world, companion);
  await settleNotedTurn(world, shortly);
  const listNoted = async () => run<{ id: string }>("SELECT message_id AS id FROM knowledge_turns").map(({ id }) => id);
  expect(await listNoted()).toHaveLength(8);
  await conversations.delete(account.id, deleted.conversationId, world.context());
  const visitors = [erased.key.visitorId ?? ""];
  await conversations.eraseVisitors(account.id, companion.id, visitors, world.context());
  await conversations.deleteExpired(world.clock.nowMs() + 3 * 86_400_000, 100);
  await eventually(async () => (await listNoted()).length === 2);
  expect((await listNoted()).toSorted()).toEqual(kept.messages.map(({ id }) => id).toSorted());
});

test("of a companion's askings the newest are kept", async () => {
  const { turns, unanswered } = world.store;
  const ask = async (groupId: string) => {
    const { key, messages, ...turn } = world.turnOf(companion, { said: "often" });
    await turns.settle({ key, messages, ...turn });
    await unanswered.note({ key, unanswered: { messageId: messages[0]?.id ?? "", groupId }, seen: null });
  };
  const [oldest, often, newest] = [systemIds.randomUuid(), systemIds.randomUuid(), systemIds.randomUuid()];
  await ask(oldest);
  await ask(often);
  run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${maxAskings - 2})
    INSERT INTO knowledge_turns (conversation_number, message_id, companion_id, group_id, created_at)
    SELECT t.conversation_number, t.message_id, t.companion_id, t.group_id, t.created_at
    FROM n, knowledge_turns t WHERE t.group_id = '${often}'`);
  const counts = async () => {
    const page = await unanswered.list(account.id, companion.id, firstPage);
    return new Map(page?.items.map(({ id, count }) => [id, count]));
  };
  expect(await counts()).toEqual(
    new Map(
      [
        [oldest, 1],
        [often, maxAskings - 1],
      ].toSorted() as never,
    ),
  );
  await ask(newest);
  expect(await counts()).toEqual(
    new Map(
      [
        [often, maxAskings - 1],
        [newest, 1],
      ].toSorted() as never,
    ),
  );
});

test("what must stay fast is looked up by an index, from one end", () => {
  const due = "account_id=? AND due_at>? AND due_at<?";
  const plans: [sql: string, searches: string[]][] = [
    [
      knowledgeIndexQueries.editions,
      ["s USING INDEX knowledge_sources_companion (companion_id=?)", "e USING INTEGER PRIMARY KEY (rowid=?)"],
    ],
    [knowledgeIndexQueries.postings, ["knowledge_postings USING PRIMARY KEY (edition=? AND term=?)"]],
    [
      sourceQueueQueries.oldest,
      [
        "s USING INDEX knowledge_sources_due (due_at>? AND due_at<?)",
        "companions EXISTS USING COVERING INDEX companions_id_unique (id=?)",
      ],
    ],
    [
      sourceQueueQueries.nextAccount,
      [
        "knowledge_sources USING COVERING INDEX knowledge_sources_turns (account_id>?)",
        "knowledge_sources USING COVERING INDEX knowledge_sources_turns (account_id>?)",
        `s EXISTS USING INDEX knowledge_sources_turns (${due})`,
        "companions USING COVERING INDEX companions_id_unique (id=?)",
      ],
    ],
    [
      sourceQueueQueries.ofAccount,
      [
        `s USING INDEX knowledge_sources_turns (${due})`,
        "companions EXISTS USING COVERING INDEX companions_id_unique (id=?)",
      ],
    ],
    [
      unembeddedQueries.list,
      [
        "e USING INDEX knowledge_editions_embedded (is_embedded=? AND model=? AND rowid>?)",
        "s USING INTEGER PRIMARY KEY (rowid=?)",
        "c USING INDEX companions_id_unique (id=?)",
      ],
    ],
    [
      unembeddedQueries.nextModel,
      ["knowledge_editions USING COVERING INDEX knowledge_editions_embedded (is_embedded=? AND model>?)"],
    ],
    [
      unansweredQueries.asc,
      [
        "t USING COVERING INDEX knowledge_turns_unanswered (companion_id=? AND group_id>?)",
        "conversations EXISTS USING INTEGER PRIMARY KEY (rowid=?)",
      ],
    ],
    [
      unansweredQueries.desc,
      [
        "t USING COVERING INDEX knowledge_turns_unanswered (companion_id=? AND group_id>?)",
        "conversations EXISTS USING INTEGER PRIMARY KEY (rowid=?)",
      ],
    ],
    [
      unansweredQueries.question,
      [
        "t USING INDEX knowledge_turns_unanswered (companion_id=? AND group_id=?)",
        "m USING INDEX messages_conversation (conversation_number=? AND created_at=?)",
      ],
    ],
  ];
  for (const [sql, searches] of plans) {
    const details = run<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => detail);
    const searched = details.filter((detail) => detail.startsWith("SEARCH ")).map((detail) => detail.slice(7));
    expect(searched).toEqual(searches);
    expect(details.filter((detail) => /^SCAN (?!json_each|CONSTANT|account)/.test(detail))).toEqual([]);
  }
});
