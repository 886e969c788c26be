/** Copies of knowledge between the engines: what one has indexed answers in the other, and long rows fit into memory. */
import { expect, test } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import { createKnowledgeFinder } from "../../src/core/knowledge/retrieval/finder.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import { openPostgresStore } from "../../src/engines/postgres/open.ts";
import { copyStore, type StoreLocation } from "../../src/engines/store-copy/copy.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { makeCopyPlaces } from "../support/copy-world.ts";
import { indexText } from "../support/index-text.ts";
import { indexSource, makeSource, newUpload, publishNext, readUpload } from "../support/indexed-source.ts";
import { openStoreAt } from "../support/sqlite-store.ts";
import { openWorld } from "../support/store-world.ts";

const openWorldOf = (store: Store) =>
  openWorld(async () => ({ store, arrivals: { mark: () => "", begin: () => () => {} }, close: () => store.close() }));

test("knowledge answers after the way to PostgreSQL and back as before, and long rows come a few at a time", async () => {
  const places = await makeCopyPlaces();
  const { source, url, sqlite, postgres, directory } = places;
  const world = await openWorldOf(await openStoreAt(source));
  const account = await world.createAccount();
  const companion = await world.createCompanion(account);
  const words = "Open from \u0000 nine.";
  const written = newUpload("# Hours\n\nOpen from nine.");
  const fields = { url: "https://shop.example", upload: written };
  const { edition, source: read } = await indexSource(world, companion, [words], fields);
  await world.store.knowledge.replaceVectors(edition, "m", [{ firstOrdinal: 0, vectors: new Uint8Array([0]) }], true);
  await indexText(world.store, companion, { title: "Parking", passages: ["Bicycles stand in the yard."] });
  const turn = world.turnOf(companion);
  await world.store.turns.settle(turn);
  const [asked, replied] = turn.messages.map(({ id }) => id);
  const groupId = "00000000-0000-4000-8000-000000000001";
  const passages = [{ edition, ordinal: 0, n: 1, isCited: true }];
  const seen = { messageId: replied ?? "", passages };
  await world.store.unanswered.note({ ...turn, unanswered: { messageId: asked ?? "", groupId }, seen });
  const uploads = ["a", "b", "c", "d", "é".repeat(4_000_000)].map(newUpload);
  for (const upload of uploads) await makeSource(world, companion, { upload });
  await world.close();

  async function expectAnswers({ knowledge, ...store }: Store): Promise<void> {
    const passage = { text: words, url: "https://shop.example" };
    expect(await knowledge.readPassages(companion.id, [{ edition, ordinal: 0 }])).toMatchObject([passage]);
    expect(await knowledge.findPostings([edition], [7])).toMatchObject([{ edition, term: 7 }]);
    expect(await knowledge.readVectors(edition, 0)).toHaveLength(1);
    for (const { id, bytes } of [written, ...uploads]) {
      expect(await readUpload({ store: { knowledge, ...store } }, id)).toBe(new TextDecoder().decode(bytes));
    }
    // By its words, whose numbers depend on a key that is copied.
    const finding = { near: null, log: createCapturedLog(), measurements: new Measurements() };
    const finder = createKnowledgeFinder({ store: { knowledge, ...store }, ...finding });
    expect(await finder.search(companion, "bicycle", 1)).toMatchObject({ passages: [{ title: "Parking" }] });
    const kept = { uploadId: written.id, bytes: written.bytes.length };
    expect(await knowledge.findText(account.id, companion.id, read.id)).toEqual(kept);
    const question = await store.unanswered.find(account.id, companion.id, groupId);
    expect(question).toMatchObject({ question: "Hello", count: 1 });
    const shown = await store.unanswered.listSeen(turn.conversationId, [replied ?? ""]);
    expect([...shown.values()]).toMatchObject([[{ ...passages[0], source: { title: "Terms" } }]]);
  }

  const pages: number[] = [];
  const copy = (from: StoreLocation, to: StoreLocation) =>
    copyStore({ from, to, observer: { onRows: (rows) => pages.push(rows) } });
  const { tables } = await copy(sqlite, postgres);
  const pieces = tables.find(({ table }) => table === "knowledge_uploads")?.rows ?? 0;
  const store = (await openPostgresStore({ url, pool: 2, poolHeavy: 2, log: createCapturedLog() })).store;
  await expectAnswers(store);
  await store.close();
  const back: StoreLocation = { engine: "sqlite", dataDir: directory.file("back") };
  await copy(postgres, back);
  expect(pieces).toBe(22);
  expect(Math.max(...pages)).toBeLessThan(pieces / 2);

  const returned = await openWorldOf(await openStoreAt(back.dataDir));
  await expectAnswers(returned.store);
  // Numbering goes on: an edition that is made now is none of those before.
  returned.clock.advance(1_000);
  expect(await publishNext(returned, ["new"])).toBeGreaterThan(edition);
  await returned.close();
  await places.remove();
});
