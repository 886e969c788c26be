/** Reads sources in the command that queued them. */
import { ownHostsOf } from "../app/server-settings.ts";
import type { Store } from "../contracts/store/store.ts";
import { createFetcher } from "../core/knowledge/fetching/fetcher.ts";
import { createIndexer } from "../core/knowledge/indexing/indexer.ts";
import { openDocumentReader } from "../core/knowledge/reading/reader.ts";
import type { Source } from "../domain/knowledge.ts";
import type { Log } from "../lib/log.ts";
import type { ActionInput } from "./command.ts";

const pollEveryMs = 100;

/** The source has the reason why it was not read. */
const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, request: () => {} };

/**
 * Reads sources in the command that adds them, whether a server is running or not, and shows the progress. Until
 * each is `ready`, has failed, or is left for another try. A server beside it may be faster.
 */
export async function readHere(
  { io, clock, loadConfig }: ActionInput,
  store: Store,
  accountId: string,
  added: readonly Pick<Source, "id" | "companionId">[],
): Promise<Source[]> {
  const config = loadConfig();
  const reader = openDocumentReader(silentLog);
  const fetcher = createFetcher({ allowed: config.knowledge.privateSources, ownHosts: ownHostsOf(config) });
  // The server gives passages their vectors: it knows the provider and the budgets.
  const indexer = createIndexer({ store, reader, fetcher, embedding: null, isShared: false, clock, log: silentLog });
  indexer.wake();
  try {
    return await watch(io, async () => {
      const found = await Promise.all(
        added.map(({ id, companionId }) => store.knowledge.find(accountId, companionId, id)),
      );
      return found.filter((source) => source !== null);
    });
  } finally {
    // What it acquired of others is due again immediately.
    await indexer.close();
  }
}

/** Shows on standard error how far it is, if that is a terminal. */
async function watch(io: ActionInput["io"], read: () => Promise<Source[]>): Promise<Source[]> {
  let shown = "";
  for (;;) {
    const sources = await read();
    const open = sources.filter(isOpen);
    const now = describe(sources.length, open);
    if (io.isTerminal && now !== shown) await io.writeError(open.length > 0 ? `\r\x1b[K${now}` : "\r\x1b[K");
    shown = now;
    if (open.length === 0) return sources;
    await Bun.sleep(pollEveryMs);
  }
}

function isOpen({ status, error }: Source): boolean {
  return status === "indexing" || (status === "queued" && error === null);
}

function describe(all: number, open: readonly Source[]): string {
  const pages = open.find(({ progress }) => progress !== null)?.progress;
  const rest = pages === undefined || pages === null ? "" : `, ${pages.done} of ${pages.total ?? "?"} pages`;
  return `${all - open.length} of ${all} read${rest}`;
}
