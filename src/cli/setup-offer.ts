/** Offers a link to set up the dashboard as long as nobody can sign in. */
import { rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { OpenedServices } from "../app/services.ts";
import { makeOneTimeLink } from "../domain/one-time-link.ts";

export interface SetupOffer {
  /** Opens the dashboard once; a secret. */
  link: string;
  /** The file with the link, or null if the link should be shown. */
  file: string | null;
}

/**
 * Creates a link, or returns null if an account already has a password, or another server offers one. Without a terminal
 * the link is written to `setup-link` in the data directory, readable by its owner only, because the log must not contain
 * secrets.
 */
export async function offerSetup(
  services: Pick<OpenedServices, "store" | "coordination" | "ids" | "clock">,
  options: { baseUrl: string; dataDir: string; isShown: boolean },
): Promise<SetupOffer | null> {
  const file = join(options.dataDir, "setup-link");
  // Also deletes the link of an earlier start, which is no longer valid. Synchronous: the async call starts a thread
  // pool.
  rmSync(file, { force: true });
  if (await services.store.accounts.hasAnyPassword()) return null;
  // A new link ends the one before it: of servers that start together, one shows a link that works.
  if (!(await services.coordination.duties.take("set_up_link"))) return null;
  const { kept, path } = makeOneTimeLink({ kind: "setup", accountId: null }, services.ids, services.clock);
  const actor = { kind: "system", id: null, ipPrefix: null, requestId: null } as const;
  const context = { actor, nowMs: services.clock.nowMs(), auditId: services.ids.uuid() };
  await services.store.sessions.createLink(kept, context);
  const link = options.baseUrl + path;
  if (options.isShown) return { link, file: null };
  await writeFile(file, `${link}\n`, { mode: 0o600, flag: "wx" });
  return { link, file };
}
