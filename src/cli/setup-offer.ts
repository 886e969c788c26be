/** Offers the link that sets up the dashboard, for as long as nobody can sign in. */
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeOneTimeLink } from "../domain/one-time-link.ts";
import type { OpenedServices } from "../services.ts";

export interface SetupOffer {
  /** Opens the dashboard once; a secret. */
  link: string;
  /** Where it was left, or null where it is to be shown. */
  file: string | null;
}

/**
 * A new link, or null where an account has a password already. Without a terminal to show it on it is written to
 * `setup-link` in the data directory, readable by its owner only, since the log is no place for secrets.
 */
export async function offerSetup(
  services: Pick<OpenedServices, "store" | "ids" | "clock">,
  options: { baseUrl: string; dataDir: string; isShown: boolean },
): Promise<SetupOffer | null> {
  const file = join(options.dataDir, "setup-link");
  // Also one from an earlier start: it is worth nothing any more. Synchronously, as the other way starts a pool of threads.
  rmSync(file, { force: true });
  if (await services.store.accounts.hasAnyPassword()) return null;
  const { kept, path } = makeOneTimeLink({ kind: "setup", accountId: null }, services.ids, services.clock);
  const actor = { kind: "system", id: null, ipPrefix: null, requestId: null } as const;
  const context = { actor, nowMs: services.clock.nowMs(), auditId: services.ids.uuid() };
  await services.store.sessions.createLink(kept, context);
  const link = options.baseUrl + path;
  if (options.isShown) return { link, file: null };
  await writeFile(file, `${link}\n`, { mode: 0o600, flag: "wx" });
  return { link, file };
}
