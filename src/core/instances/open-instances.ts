/** What this instance is to the others of its database, and they to it. */
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { Sealing } from "../../lib/sealing.ts";
import { createCallProofs } from "./call-proofs.ts";
import type { Instances } from "./instances.ts";
import { createPassing, type PassingDeadlines } from "./passing.ts";

export interface InstancesOptions {
  sealing: Pick<Sealing, "digest">;
  clock: Clock;
  ids: IdSource;
  log: Log;
  /** Announces the address to the others; null where no others can be. */
  publish: ((url: string) => Promise<void>) | null;
  /** Of the certificates of all instances, which no authority gives for the addresses where they reach one another. */
  tlsName?: string | null;
  /** Shortened in tests. */
  deadlines?: Partial<PassingDeadlines>;
  retryMs?: number;
}

export function openInstances(options: InstancesOptions): Instances {
  const { sealing, clock, ids, log, publish, deadlines = {}, tlsName = null, retryMs = 1_000 } = options;
  const proofs = createCallProofs({ sealing, clock, ids });
  let ownUrl: string | null = null;
  const passing = createPassing({ proofs, getOwnUrl: () => ownUrl, deadlines, tlsName });
  let again: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  async function announce(findUrl: () => string): Promise<void> {
    if (publish === null || isClosed) return;
    const url = findUrl();
    ownUrl = url;
    try {
      await publish(url);
    } catch (error) {
      log.warn("the other instances do not know this one's address yet", { url, error });
      if (!isClosed) again = setTimeout(() => void announce(() => url), retryMs);
    }
  }

  return {
    get ownUrl() {
      return ownUrl;
    },
    announce,
    async check(method, path, proof) {
      return proof === null || ownUrl === null ? null : await proofs.check(method, ownUrl + path, proof);
    },
    pass: passing.pass,
    close() {
      isClosed = true;
      clearTimeout(again);
      passing[Symbol.dispose]();
    },
  };
}
