/** What the maintenance of a certificate works with. */
import type { Authority } from "../../contracts/certificates/authority.ts";
import type { CertificateStore } from "../../contracts/certificates/certificate-store.ts";
import type { Duties } from "../../contracts/coordination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { After } from "../../lib/spaced-queue.ts";
import type { CheckName } from "./name-check.ts";

export type OrderOutcome = "obtained" | "failed";

export interface CertificateOptions {
  /** In lower case. */
  names: readonly string[];
  email: string | null;
  /** The URL of the authority's directory. */
  directory: string;
  authority: Authority;
  store: CertificateStore;
  checkName: CheckName;
  duties: Pick<Duties, "take">;
  clock: Pick<Clock, "nowMs">;
  log: Log;
  /** Called once for each order, when it has ended. */
  count(outcome: OrderOutcome): void;
  after?: After;
  /** From 0 up to, but not including, 1. */
  random?: () => number;
}
