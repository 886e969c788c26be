/** The longest hold of the event loop while the server's own queue reads a source of 20 000 passages from its upload to the answer. */
import { join } from "node:path";
import { createIndexer } from "../../src/core/knowledge/indexing/indexer.ts";
import { openDocumentReader } from "../../src/core/knowledge/reading/reader.ts";
import { createCapturedLog } from "../../test/support/captured-log.ts";
import { makeSource, newUpload } from "../../test/support/indexed-source.ts";
import type { OpenStore } from "../../test/support/store-world.ts";
import { type Hold, measureHold } from "./event-loop.ts";
import { openBenchWorld } from "./stores.ts";
import { createWriter } from "./texts.ts";

export interface HoldFigures {
  readonly engine: string;
  readonly what: string;
  readonly megabytes: number;
  readonly passages: number;
  readonly seconds: number;
  readonly hold: Hold;
}

const program = [process.execPath, join(import.meta.dir, "../../src/main.ts")];

/** What is hard in its own way: many passages; one paragraph without an end; one line without an end. */
function writeTexts(): { what: string; markdown: string }[] {
  const writer = createWriter(7);
  return [
    { what: "20 000 sections", markdown: writer.markdown(19_990) },
    { what: "one paragraph", markdown: writer.words(900_000) },
    { what: "one word", markdown: "x".repeat(5_000_000) },
    { what: "one page of Japanese", markdown: "返品はお届けから三十日以内にお願いいたします。".repeat(70_000) },
  ];
}

export async function measureHolds(
  engine: string,
  open: OpenStore,
  say: (sentence: string) => void,
): Promise<HoldFigures[]> {
  const figures: HoldFigures[] = [];
  for (const { what, markdown } of writeTexts()) {
    say(`${engine}: reading ${what}`);
    figures.push(await measureOne(engine, open, what, markdown));
  }
  return figures;
}

async function measureOne(engine: string, open: OpenStore, what: string, markdown: string): Promise<HoldFigures> {
  const world = await openBenchWorld(open);
  const log = createCapturedLog();
  const reader = openDocumentReader(log, { command: program });
  const fetcher = { fetch: neverFetched, listPages: neverFetched };
  const { store, clock } = world;
  const indexer = createIndexer({ store, reader, fetcher, embedding: null, isShared: false, clock, log });
  try {
    const companion = await world.createCompanion(await world.createAccount());
    const upload = { ...newUpload(markdown), kind: "markdown" as const };
    const startedMs = performance.now();
    let id = "";
    const hold = await measureHold(async () => {
      ({ id } = await makeSource(world, companion, { type: "file", upload }));
      indexer.wake();
      await indexer.whenIdle();
    });
    const seconds = (performance.now() - startedMs) / 1000;
    const source = await world.store.knowledge.find(companion.accountId, companion.id, id);
    if (source?.status !== "ready") throw new Error(`${what}: ${source?.error}`);
    return { engine, what, megabytes: upload.bytes.length / 1e6, passages: source.chunks, seconds, hold };
  } finally {
    await indexer.close();
    await world.close();
  }
}

function neverFetched(): Promise<never> {
  return Promise.reject(new Error("nothing is fetched here"));
}
