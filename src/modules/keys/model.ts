/** API keys on the wire: never the key itself, which only the answer to its creation adds. */
import type { ApiKey } from "../../domain/account.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export function toWireKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    start: key.start,
    scopes: key.scopes,
    expires_at: key.expiresAt === null ? null : toRfc3339(key.expiresAt),
    last_used_at: key.lastUsedAt === null ? null : toRfc3339(key.lastUsedAt),
    requests: key.requests,
    created_at: toRfc3339(key.createdAt),
  };
}
