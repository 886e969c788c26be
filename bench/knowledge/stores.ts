/** Stores with knowledge in them, made and asked as the server does it. */
import { EditionBuilder } from "../../src/core/knowledge/indexing/edition-builder.ts";
import { hashDocument } from "../../src/core/knowledge/indexing/parts.ts";
import { createKnowledgeFinder } from "../../src/core/knowledge/retrieval/finder.ts";
import type { KnowledgeFinder } from "../../src/core/knowledge/retrieval/found.ts";
import { openTermNumbers } from "../../src/core/knowledge/words/term-number.ts";
import { Measurements } from "../../src/core/metrics/measurements.ts";
import type { Companion } from "../../src/domain/companion.ts";
import type { ReadDocument } from "../../src/domain/knowledge.ts";
import { migratePostgres } from "../../src/engines/postgres/migrator.ts";
import { createEngine, openPostgresStore } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "../../test/support/captured-log.ts";
import { claimNext, makeSource, newFacts } from "../../test/support/indexed-source.ts";
import type { PostgresServer } from "../../test/support/postgres-server.ts";
import { openTemporaryStore } from "../../test/support/sqlite-store.ts";
import { type OpenStore, openWorld, type StoreWorld } from "../../test/support/store-world.ts";

const pools = { pool: 10, poolHeavy: 4 };

export const onSqlite: OpenStore = openTemporaryStore;

/** Each in a database of its own. */
export function onPostgres(server: PostgresServer): OpenStore {
  return async () => {
    const { name, url } = await server.createDatabase();
    const log = createCapturedLog();
    const engine = createEngine({ url, ...pools, log });
    await migratePostgres(engine.heavyPool);
    await engine.close();
    const opened = await openPostgresStore({ url, ...pools, log });
    async function close() {
      await opened.store.close();
      await server.dropDatabase(name);
    }
    return { store: opened.store, arrivals: opened.parts.arrivals, close };
  };
}

export async function openBenchWorld(open: OpenStore): Promise<StoreWorld & { finder: KnowledgeFinder }> {
  const world = await openWorld(open);
  const { store } = world;
  const finder = createKnowledgeFinder({
    store,
    near: null,
    log: createCapturedLog(),
    measurements: new Measurements(),
  });
  return { ...world, finder };
}

export interface TitledDocument {
  readonly title: string;
  readonly document: ReadDocument;
}

/** One source of these documents, ready to answer. Returns how many passages it has. */
export async function index(
  world: StoreWorld,
  companion: Companion,
  documents: readonly TitledDocument[],
): Promise<number> {
  const { knowledge } = world.store;
  await makeSource(world, companion, { type: "sitemap", url: "https://shop.example/sitemap.xml", upload: null });
  const claimed = await claimNext(world);
  const edition = await knowledge.openEdition(claimed, null, world.clock.nowMs());
  if (edition === null) throw new Error("the claim is outdated");
  const builder = new EditionBuilder(
    knowledge,
    await openTermNumbers(world.store)(),
    edition,
    new AbortController().signal,
  );
  for (const { title, document } of documents) {
    const facts = { url: null, title, contentHash: await hashDocument(document), etag: null, lastModified: null };
    await builder.addDocument(facts, document);
  }
  const built = await builder.finish();
  const verdict = await knowledge.publish(claimed, edition, newFacts({ title: "All", ...built }), world.clock.nowMs());
  if (verdict !== "published") throw new Error(verdict);
  return built.chunks;
}
