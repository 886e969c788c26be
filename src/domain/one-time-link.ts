/** One-time links to the dashboard, to set it up, to choose a new password or to accept an invitation. */
import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import { sha256Hex } from "../lib/sha256.ts";

const lifetimeMs = 30 * 60_000;
const invitationLifetimeMs = 7 * 86_400_000;
const secretPattern = /^[0-9A-Za-z]{43}$/;

export type LinkPurpose =
  | { kind: "setup"; accountId: null }
  | { kind: "reset"; accountId: string }
  | { kind: "invitation"; accountId: string; memberId: string };

/** Creates a link: `kept` goes to the store, `path` (with the secret) to a person and nowhere else. */
export function makeOneTimeLink(purpose: LinkPurpose, ids: Pick<IdSource, "secret">, clock: Pick<Clock, "nowMs">) {
  const secret = ids.secret(43);
  const expiresAt = clock.nowMs() + (purpose.kind === "invitation" ? invitationLifetimeMs : lifetimeMs);
  return {
    kept: { memberId: null, ...purpose, hash: sha256Hex(secret), expiresAt },
    // Browsers do not send the fragment, so no log or proxy ever sees the secret.
    path: `/app/${purpose.kind}#${secret}`,
  };
}

/** The hash under which a link's secret is stored, or null if the text cannot be one. */
export function hashLinkSecret(secret: string): string | null {
  return secretPattern.test(secret) ? sha256Hex(secret) : null;
}
