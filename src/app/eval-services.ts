/** Companions of files, in a store of this process that is gone with it: asked live, recorded, or from recordings. */
import type { Config } from "../config/config.ts";
import type { Store } from "../contracts/store/store.ts";
import type { AsCaller } from "../core/companion-files/named-files.ts";
import type { FileCompanion } from "../core/companion-files/read-companions.ts";
import { createRecordedClock } from "../core/evals/recordings/recorded-clock.ts";
import {
  createRecordedEmbeddings,
  createRecordedFetcher,
  createRecordedMcpTools,
} from "../core/evals/recordings/recorded-knowledge.ts";
import { createRecordedLlm } from "../core/evals/recordings/recorded-llm.ts";
import { createRecordings, openRecordings, type Recordings } from "../core/evals/recordings/recordings.ts";
import type { TrialServices, TriedCompanion } from "../core/evals/trial-target.ts";
import { createFetcher } from "../core/knowledge/fetching/fetcher.ts";
import type { Account } from "../domain/account.ts";
import { createErasureMarks } from "../engines/memory/coordination/erasure-marks.ts";
import { openMemoryStore } from "../engines/sqlite/open.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { closeOnFailure } from "../lib/close-on-failure.ts";
import { systemIds } from "../lib/ids.ts";
import { silentLog } from "../lib/log.ts";
import { createSealing, makeSealingKey, readSealingKey } from "../lib/sealing.ts";
import { applyAll, listUnread, toContext } from "./eval-companions.ts";
import { openEmbeddings, openLlm } from "./llm.ts";
import { takeRecordedSettings, toRecordedSettings } from "./recorded-settings.ts";
import { createSealedSecrets } from "./sealed-secrets.ts";
import { ownHostsOf } from "./server-settings.ts";
import { openTrialServices } from "./trial-services.ts";

export interface EvalServicesOptions {
  readonly companions: readonly FileCompanion[];
  readonly mode: { readonly kind: "replay" | "record"; readonly directory: string } | { readonly kind: "live" };
  /** Besides those of the settings: models that a replay is asked for. */
  readonly models: readonly string[];
  /** Reads the files that become sources. */
  readonly asCaller: AsCaller;
}

export interface OpenedEvals {
  readonly services: TrialServices;
  find(slug: string): Promise<TriedCompanion | null>;
  /** Left out: nothing is recorded. See `Recordings`. */
  readonly takeMiss?: () => string | null;
  /** What of sources could not be read, as sentences. */
  readonly problems: readonly string[];
  /** Whether that is because no recording has it. */
  readonly isRecordingMissing: boolean;
  /** Files of recordings that nothing has asked for; null unless it is recorded. */
  listStale(): Promise<readonly string[] | null>;
  close(): Promise<void>;
}

/**
 * Rejects with `invalid_request` as `POST /api/apply` does, with the companions by their positions, and with `FileRefusal`
 * for recordings that are none.
 */
export async function openEvalServices(given: Config, options: EvalServicesOptions): Promise<OpenedEvals> {
  const { companions, mode, models, asCaller } = options;
  const recordings = await openMode(given, mode);
  const config = recordings?.mode === "replay" ? takeRecordedSettings(given, recordings.settings, models) : given;
  const { clock, ...engines } = openEngines(config, recordings);
  const store = await openMemoryStore({ log: silentLog, erasures: createErasureMarks() });
  const sealing = await createSealing(readSealingKey(makeSealingKey()) ?? new Uint8Array(32));
  const trials = openTrialServices(config, { store, sealing, clock, ...engines });
  const closing = {
    async close() {
      await trials.close();
      await store.close();
    },
  };
  return await closeOnFailure(closing, async () => {
    const account = await makeAccount(store, clock);
    const isReplay = recordings?.mode === "replay";
    await applyAll({ config, store, sealing, clock, account, isReplay, asCaller }, companions);
    await trials.readSources();
    const miss = recordings?.takeMiss() ?? null;
    const problems = await listUnread({ store, account }, companions);
    return {
      services: trials.services,
      async find(slug) {
        const companion = await store.companions.findBySlug(account.id, slug);
        return companion && { companion, plan: account.plan };
      },
      ...(recordings === null ? {} : { takeMiss: () => recordings.takeMiss() }),
      problems: miss === null ? problems : [miss, ...problems],
      isRecordingMissing: miss !== null,
      listStale: async () => (recordings?.mode === "record" ? await recordings.listUnasked() : null),
      close: closing.close,
    };
  });
}

/** Companions of a store that is open, asked live: what they cost counts as ever. Closing leaves the store. */
export function openOwnTrials(config: Config, store: Store): Pick<OpenedEvals, "services" | "close"> {
  const { secretKey, dataDir } = config;
  const sealing = createSealedSecrets({ secretKey, dataDir, store });
  const { clock, llm, embeddings } = openEngines(config, null);
  const { services, close } = openTrialServices(config, { store, sealing, clock, llm, embeddings });
  return { services, close };
}

async function openMode(config: Config, mode: EvalServicesOptions["mode"]): Promise<Recordings | null> {
  if (mode.kind === "live") return null;
  if (mode.kind === "replay") return await openRecordings(mode.directory);
  return await createRecordings(mode.directory, systemClock.nowMs(), toRecordedSettings(config));
}

/** Which passages are recorded must not depend on how busy a provider is. */
const maxEmbeddingMs = 60_000;

function openEngines(config: Config, recordings: Recordings | null) {
  const isReplay = recordings?.mode === "replay";
  const calls = { ended() {}, failed() {} };
  const llm = isReplay ? null : openLlm(config.llm, { log: silentLog, calls, clock: systemClock }).llm;
  const embeddings = isReplay ? null : openEmbeddings(config.llm, { log: silentLog });
  if (recordings === null) {
    if (llm === null) throw new Error("only a replay asks no provider");
    return { clock: systemClock, llm, embeddings };
  }
  const clock = createRecordedClock(recordings, systemClock);
  const { embeddingModel, extra } = config.llm;
  const fetcher = isReplay
    ? null
    : createFetcher({ allowed: config.knowledge.privateSources, ownHosts: ownHostsOf(config) });
  return {
    clock,
    llm: createRecordedLlm(llm, { recordings, clock, extra }),
    embeddings: embeddingModel === null ? null : createRecordedEmbeddings(embeddingModel, embeddings, recordings),
    knowledge: { fetcher: createRecordedFetcher(fetcher, recordings), nearMs: maxEmbeddingMs },
    wrapTools: <Engines extends { mcp: Parameters<typeof createRecordedMcpTools>[0] }>(opened: Engines) => ({
      ...opened,
      mcp: createRecordedMcpTools(isReplay ? null : opened.mcp, recordings),
    }),
  };
}

async function makeAccount(store: Store, clock: Clock): Promise<Account> {
  const account = { id: systemIds.uuid(), email: "evals@localhost.invalid", passwordHash: null };
  return await store.accounts.create({ ...account, plan: "paid", role: "owner" }, toContext(clock));
}
