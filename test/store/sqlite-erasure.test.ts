/** Erasure in SQLite: nothing of a visitor's words is left in any file, and the space is used again. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { textOf } from "../../src/domain/conversation.ts";
import { toVerifiedId } from "../../src/domain/visitor.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { eventually } from "../support/eventually.ts";
import { createRandom } from "../support/random.ts";
import { openStoreAt, openTemporaryStore } from "../support/sqlite-store.ts";
import { day, openWorld, type StoreWorld } from "../support/store-world.ts";
import { callInTurn, newTool } from "../support/stored-tool.ts";

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

/** Names of the files that hold the text, in any place. */
function filesWith(text: string): string[] {
  return readdirSync(dataDir).filter((name) => readFileSync(join(dataDir, name)).includes(text));
}

function countRows(where: string, from = "messages"): number {
  using database = new Database(join(dataDir, "companiond.db"), { readonly: true });
  const row = database.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${from} WHERE ${where}`).get();
  return row?.count ?? -1;
}

test("a visitor's words are in the files before, and nowhere after", async () => {
  const visitorId = systemIds.randomUuid();
  const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
  const long = "very long ".repeat(2000);
  await world.store.turns.settle(world.turnOf(companion, { key, said: `MARKER-ASKED ${long}MARKER-END` }));
  await world.store.turns.settle(world.turnOf(companion, { key, answered: "MARKER-ANSWERED" }));
  await world.store.turns.settle(world.turnOf(companion, { said: "MARKER-OTHER" }));
  for (const marker of ["MARKER-ASKED", "MARKER-END", "MARKER-ANSWERED", visitorId])
    expect(filesWith(marker)).not.toEqual([]);
  await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
  for (const marker of ["MARKER-ASKED", "MARKER-END", "MARKER-ANSWERED", visitorId])
    expect(filesWith(marker)).toEqual([]);
  expect(filesWith("MARKER-OTHER")).not.toEqual([]);
});

test("nothing of a verified visitor is left in any table: no id, no sealed text, no day, no name of an exchange", async () => {
  const visitorId = toVerifiedId("MARKER-DIGEST");
  const anonymousId = systemIds.randomUuid();
  const visitor = { sealed: "MARKER-SEALED", isLimited: true };
  const messageIds = [systemIds.randomUuid(), systemIds.randomUuid()];
  const keyOf = (id: string) => ({ companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: id });
  for (const messageId of messageIds) {
    const named = { messageId, said: "MARKER-ASKED" };
    await world.store.turns.settle(world.turnOf(companion, { key: keyOf(visitorId), visitor, ...named }));
    await world.store.turns.settle(world.turnOf(companion, { key: keyOf(anonymousId), answered: null, ...named }));
  }
  const call = { providerConversationId: "conv-1", sessionId: "s", visitorId, sealedVisitor: "MARKER-SEALED" };
  const place = {
    ticketId: null,
    accountId: account.id,
    companionId: companion.id,
    keyId: null,
    day,
    reservationId: null,
    createdAt: 1,
  };
  await world.store.voice.startSession({ ...call, ...place });
  const markers = ["MARKER-DIGEST", "MARKER-SEALED", "MARKER-ASKED", anonymousId, ...messageIds];
  for (const marker of markers) expect(filesWith(marker)).not.toEqual([]);

  const erased = [visitorId, anonymousId];
  await world.store.conversations.eraseVisitors(account.id, companion.id, erased, world.context());
  for (const table of ["conversations", "voice_sessions", "visitor_daily"]) expect(countRows("true", table)).toBe(0);
  expect(countRows(`client_id IN ('${messageIds.join("', '")}')`)).toBe(0);
  // In so small a file no row has moved, and nothing is left in unused space either.
  for (const marker of markers) expect(filesWith(marker)).toEqual([]);
});

test("a command that deletes an account beside a running server leaves none of its words, and no label", async () => {
  for (let at = 0; at < 150; at++) {
    await world.store.turns.settle(world.turnOf(companion, { said: `MARKER-ASKED ${at}` }));
  }
  const command = await openStoreAt(dataDir);
  await command.accounts.delete(account.id, world.context());
  await command.close();
  expect(filesWith("MARKER-ASKED")).toEqual([]);
  for (const table of ["removals", "messages WHERE conversation_number > 0"])
    expect(countRows("true", `(SELECT 1 FROM ${table})`)).toBe(0);
});

test("words of a conversation that was deleted just before are erased too", async () => {
  const visitorId = systemIds.randomUuid();
  const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
  const turn = world.turnOf(companion, { key, said: "MARKER-DELETED" });
  await world.store.turns.settle(turn);
  const isDeleted = world.store.conversations.delete(account.id, turn.conversationId, world.context());
  const isErased = world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
  expect(await Promise.all([isDeleted, isErased])).toEqual([true, true]);
  expect(filesWith("MARKER-DELETED")).toEqual([]);
});

test("words of a conversation, a companion and an account are erased once their deletion has finished", async () => {
  const turn = world.turnOf(companion, { said: "MARKER-CONVERSATION" });
  await world.store.turns.settle(turn);
  await world.store.conversations.delete(account.id, turn.conversationId, world.context());
  await eventually(() => filesWith("MARKER-CONVERSATION").length === 0);

  await world.store.turns.settle(world.turnOf(companion, { said: "MARKER-COMPANION" }));
  await world.store.companions.delete(account.id, companion.id, world.context());
  await eventually(() => filesWith("MARKER-COMPANION").length === 0);

  await world.store.turns.settle(world.turnOf(await world.createCompanion(account), { said: "MARKER-ACCOUNT" }));
  expect(filesWith("MARKER-ACCOUNT")).not.toEqual([]);
  await world.store.accounts.delete(account.id, world.context());
  await eventually(() => filesWith("MARKER-ACCOUNT").length === 0);
});

test("no stale copy is left by whatever was written and deleted around them", async () => {
  const random = createRandom(11);
  const visitors = Array.from({ length: 20 }, (_, at) => ({ id: systemIds.randomUuid(), marker: `MARKER-${at}-` }));
  for (const [round, visitor] of visitors.entries()) {
    const settled: Promise<unknown>[] = [];
    for (let at = 0; at < 150; at++) {
      const speaker = visitors[random.below(visitors.length)] ?? visitor;
      const filler = " word".repeat(random.below(10) === 0 ? 2000 : random.below(300));
      const said = `${speaker.marker}${filler}${speaker.marker}`;
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: speaker.id };
      settled.push(world.store.turns.settle(world.turnOf(companion, { key, said, answered: filler + speaker.marker })));
    }
    await Promise.all(settled);
    const query = {
      companionId: companion.id,
      visitorId: visitors.at(-1 - round)?.id ?? null,
      fromMs: null,
      toMs: null,
      q: null,
    };
    const some = await world.store.conversations.list(account.id, query, { limit: 20, afterId: null });
    for (const { id } of some.items) await world.store.conversations.delete(account.id, id, world.context());
    await world.store.conversations.eraseVisitors(account.id, companion.id, [visitor.id], world.context());
    expect(filesWith(visitor.marker)).toEqual([]);
    expect(countRows(`text LIKE '%${visitor.marker}%'`)).toBe(0);
  }
  expect(countRows("conversation_number > 0 AND text LIKE 'MARKER-%'")).toBeGreaterThan(100);
});

test("the row of an exchange that ends anew is written anew, because a row that grew could move others", async () => {
  const visitorId = systemIds.randomUuid();
  const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
  const turn = world.turnOf(companion, { key, messageId: systemIds.randomUuid(), said: "MARKER-LEFT", answered: null });
  await world.store.turns.settle(turn);
  await world.store.turns.settle({ ...turn, messages: [], isCounted: false, endCode: "cancelled" });
  expect(countRows("number = 1 AND conversation_number < 0 AND text = '00000000000' AND end_code IS NULL")).toBe(1);
  expect(countRows("number = 2 AND text = 'MARKER-LEFT' AND end_code = 'cancelled'")).toBe(1);
  await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
  expect(filesWith("MARKER-LEFT")).toEqual([]);
});

test("messages that are kept stay whole and in order, wherever others are erased between them", async () => {
  const random = createRandom(3);
  const kept = new Map<string, string[]>();
  const keys = Array.from({ length: 8 }, () => {
    return { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
  });
  for (let round = 0; round < 10; round++) {
    for (let at = 0; at < 60; at++) {
      const key = keys[random.below(at % 4 === 0 ? 8 : 2)] ?? keys[0];
      if (key === undefined) continue;
      const said = `${round}.${at} ${"x".repeat(random.below(900))}`;
      // One instant for both: their order must not depend on the clock.
      const atMs = world.clock.nowMs();
      const turn = world.turnOf(companion, { key, said, answered: `${at}`, atMs, answeredAtMs: atMs });
      await world.store.turns.settle(turn);
      kept.set(key.sessionId, [...(kept.get(key.sessionId) ?? []), said, `${at}`]);
    }
    const erased = keys[round % 2];
    await world.store.conversations.eraseVisitors(account.id, companion.id, [erased?.visitorId ?? ""], world.context());
    kept.delete(erased?.sessionId ?? "");
    for (const key of keys) {
      const history = await world.store.turns.listHistory(key, 1_000_000);
      expect(history.map(textOf).reverse()).toEqual(kept.get(key.sessionId) ?? []);
    }
  }
  // Those that were moved too.
  const replies = "conversation_number > 0 AND role = 'assistant'";
  expect(countRows(`${replies} AND model = 'gpt-test' AND provider = 'default' AND finish_reason = 'stop'`)).toBe(
    countRows(replies),
  );
});

test("the places of erased messages are given back, but for a margin", async () => {
  const turns = Array.from({ length: 1500 }, () => world.turnOf(companion, { said: "x".repeat(300) }));
  await Promise.all(turns.map((turn) => world.store.turns.settle(turn)));
  const other = await world.createCompanion(account);
  await world.store.turns.settle(world.turnOf(other));
  expect(countRows("true")).toBe(3002);
  await world.store.companions.delete(account.id, companion.id, world.context());
  await eventually(() => countRows("conversation_number > 0") <= 2);
  expect(countRows("true")).toBeLessThan(500);
});

async function createTool() {
  const tool = newTool(companion.id, world.clock.nowMs());
  await world.store.tools.create(account.id, tool, world.context());
  return tool;
}

test("what a visitor made tools do is nowhere after the visitor's erasure, the result that comes too late included", async () => {
  const tool = await createTool();
  const visitorId = systemIds.randomUuid();
  const keyOf = (id: string) => ({ companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: id });
  const long = "very long ".repeat(1600);
  const call = { arguments: `{"a":"MARKER-ASKED"}` };
  const stored = await callInTurn(world, { companion, tool, key: keyOf(visitorId), call });
  await world.store.toolCalls.finish(stored.call.id, { state: "done", result: `MARKER-${long}-END`, durationMs: 1 });
  const running = await callInTurn(world, { companion, tool, key: keyOf(visitorId), call, isStored: false });
  const other = await callInTurn(world, { companion, tool, key: keyOf(systemIds.randomUuid()) });
  await world.store.toolCalls.finish(other.call.id, { state: "done", result: "MARKER-OTHER", durationMs: 1 });
  for (const marker of ["MARKER-ASKED", "-END", visitorId]) expect(filesWith(marker)).not.toEqual([]);
  await world.store.conversations.eraseVisitors(account.id, companion.id, [visitorId], world.context());
  await world.store.toolCalls.finish(running.call.id, { state: "done", result: "MARKER-LATE", durationMs: 1 });
  for (const marker of ["MARKER-ASKED", "-END", "MARKER-LATE", visitorId]) expect(filesWith(marker)).toEqual([]);
  expect(filesWith("MARKER-OTHER")).not.toEqual([]);
});

test("no stale copy of calls is left by whatever was written and deleted around them", async () => {
  const random = createRandom(12);
  const tool = await createTool();
  const visitors = Array.from({ length: 10 }, (_, at) => ({ id: systemIds.randomUuid(), marker: `MARKER-${at}-` }));
  for (const visitor of visitors) {
    for (let at = 0; at < 60; at++) {
      const { id: visitorId, marker } = visitors[random.below(visitors.length)] ?? visitor;
      const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId };
      const words = ` word${" word".repeat(random.below(10) === 0 ? 2000 : random.below(300))}`;
      const call = { arguments: JSON.stringify({ said: marker + words }) };
      const begun = await callInTurn(world, { companion, tool, key, call, isStored: random.below(3) > 0 });
      const result = `${marker}${words}${marker}`;
      await world.store.toolCalls.finish(begun.call.id, { state: "done", result, durationMs: at });
      if (random.below(4) === 0) {
        await world.store.conversations.delete(account.id, begun.turn.conversationId, world.context());
      }
    }
    // Some of them are found stored by then.
    if (random.below(2) === 0) await world.store.toolCalls.deleteOrphans(world.clock.nowMs() - 30_000, 20);
    await world.store.conversations.eraseVisitors(account.id, companion.id, [visitor.id], world.context());
    expect(filesWith(visitor.marker)).toEqual([]);
    expect(countRows(`text LIKE '%${visitor.marker}%'`, "tool_call_texts")).toBe(0);
    const last = await world.store.toolCalls.listOfTool(account.id, companion.id, tool.id, {
      limit: 1000,
      afterId: null,
    });
    expect(
      last?.items.every(({ result, arguments: sent }) => result?.startsWith("MARKER-") && sent.endsWith('"}')),
    ).toBe(true);
  }
  await eventually(
    () => countRows("true", "tool_calls") === countRows("NOT is_result AND call_number > 0", "tool_call_texts"),
  );
  // Places of erased words are given back, but for the margins of each stretch: how many stretches there are is chance.
  expect(countRows("true", "erased_call_ranges")).toBeGreaterThan(0);
  expect(countRows(`bytes >= ${64 * 1024}`, "erased_call_ranges")).toBe(0);
});
