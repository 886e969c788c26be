/** Metrics that are read on each scrape: build, limiter, files and disk. */
import { statfs } from "node:fs/promises";
import type { StorageSize } from "../contracts/store/engine.ts";
import type { Store } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import { buildInfo } from "../lib/build-info.ts";
import type { Probe } from "../lib/probe.ts";

export function createProbes(
  { lifecycle, voice, webhookBodies, store }: Pick<Services, "lifecycle" | "voice" | "webhookBodies" | "store">,
  limiter: { readonly size: number; readonly evictedCount: number },
  dataDir: string,
  sizes: readonly StorageSize[],
): Probe[] {
  const webhookBodyBytes = {
    name: "companiond_webhook_body_bytes",
    help: "Held of transcripts that are arriving; bounded.",
    read: () => webhookBodies.heldBytes,
  };
  return [
    createSpendingProbe(store),
    {
      name: "companiond_build_info",
      help: "Always 1; its labels identify the build.",
      labels: { version: buildInfo.version, commit: buildInfo.commit ?? "" },
      read: () => 1,
    },
    {
      name: "companiond_webhook_deliveries_waiting",
      help: "Events that webhooks have not confirmed yet.",
      read: () => store.webhooks.countWaiting(),
    },
    ...(["waiting", "person"] as const).map((state) => ({
      name: "companiond_handoffs",
      help: "Conversations that wait for a person, or that a person has.",
      labels: { state },
      read: () => store.handoffs.countState(state),
    })),
    {
      name: "companiond_draining",
      help: "1 while the server lets open replies finish and accepts no more.",
      read: () => (lifecycle.isDraining ? 1 : 0),
    },
    {
      name: "companiond_limiter_subjects",
      help: "Addresses, tokens and keys whose requests are counted now.",
      read: () => limiter.size,
    },
    {
      name: "companiond_limiter_evictions_total",
      help: "Subjects evicted early because memory is bounded.",
      read: () => limiter.evictedCount,
    },
    ...sizes.map(({ file, read }) => ({
      name: "companiond_database_bytes",
      help: "Size of the database's files.",
      labels: { file },
      read,
    })),
    {
      name: "companiond_disk_free_bytes",
      help: "Free space where the data directory is.",
      read: () => freeBytes(dataDir),
    },
    ...(voice.readers.length > 0 ? [webhookBodyBytes] : []),
  ];
}

async function freeBytes(path: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}

function createSpendingProbe({ spending }: Pick<Store, "spending">): Probe {
  return {
    name: "companiond_spending_stops",
    help: "Stops by the operator: of all accounts, or of single ones.",
    async read() {
      try {
        return (await spending.listStops()).length;
      } catch {
        // Storage is away, which has metrics of its own.
        return null;
      }
    },
  };
}
