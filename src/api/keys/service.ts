/** What an account can do with its API keys. */

import { toMadeKey } from "../../contracts/store/api-keys.ts";
import type { WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { type ApiKey, insufficientScope, type Principal, scopes } from "../../domain/account.ts";
import { apiKeyEnds, makeApiKey } from "../../domain/credentials.ts";
import { type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { omitReadOnly } from "../../http/schemas/named-object.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { parseInstant } from "../../lib/instant.ts";
import { sha256 } from "../../lib/sha256.ts";
import { type NewKeyBody, newKeyBody } from "./model.ts";
import { NewKeyObject } from "./responses.ts";

/** A key that is about to be created; `write` commits it, and in a rotation ends the key that it replaces. */
export interface PreparedKey {
  made: ApiKey;
  /** The whole key; only its hash is stored. */
  key: string;
  write(context: WriteContext): Promise<unknown>;
}

export function prepareKey(
  { store, ids }: Pick<Services, "store" | "ids">,
  principal: Principal,
  body: unknown,
  nowMs: number,
): PreparedKey {
  const settable = omitReadOnly(body, newKeyBody, NewKeyObject);
  const errors = newKeyBody.listErrors(settable);
  const isAtFault = (param: string) => errors.some((error) => error.param === param);
  if (isAtFault("")) newKeyBody.check(settable);
  const unchecked = settable as NewKeyBody;
  const expiresAt = isAtFault("expires_at") ? null : readExpiry(unchecked, principal, nowMs, errors);
  if (!isAtFault("replaces") && !isAtFault("grace_seconds")) checkReplacement(unchecked, errors);
  if (errors.length > 0) throw invalidFields(errors);
  const sent = newKeyBody.check(settable);
  const lacking = sent.scopes.filter((scope) => !principal.scopes.includes(scope));
  if (lacking.length > 0) throw insufficientScope([...new Set(lacking)], principal);
  const key = makeApiKey(ids.secret);
  const newKey = {
    id: ids.uuid(),
    name: sent.name,
    ...apiKeyEnds(key),
    hash: sha256(key),
    scopes: scopes.filter((scope) => sent.scopes.includes(scope)),
    expiresAt,
    createdByKeyId: principal.keyId,
  };
  const accountId = principal.account.id;
  return {
    made: toMadeKey(accountId, newKey, nowMs),
    key,
    write(context) {
      if (sent.replaces == null) return store.apiKeys.create(accountId, newKey, context);
      const old = { keyId: sent.replaces.toLowerCase(), endsAt: nowMs + (sent.grace_seconds ?? 0) * 1000 };
      return store.apiKeys.replace(accountId, old, newKey, context, ids.uuid);
    },
  };
}

/** If none is sent, the end of the calling key. Checks that the date exists, which the pattern cannot. */
function readExpiry(body: NewKeyBody, principal: Principal, nowMs: number, errors: FieldError[]): number | null {
  const latest = principal.keyId === null ? null : principal.expiresAt;
  const text = body.expires_at ?? null;
  if (text === null) return latest;
  const expiresAt = parseInstant(text);
  const refuse = (detail: string) => errors.push({ param: "expires_at", detail });
  if (expiresAt === null) refuse("There is no such instant.");
  else if (expiresAt <= nowMs) refuse("Must be in the future.");
  else if (latest !== null && expiresAt > latest) {
    // Shortening it silently would make servers fail on a day that no one expects.
    refuse(`Must not be later than ${toRfc3339(latest)}, when the API key that asks for it ends.`);
  }
  return expiresAt;
}

function checkReplacement({ replaces, grace_seconds }: NewKeyBody, errors: FieldError[]): void {
  if ((replaces == null) === (grace_seconds == null)) return;
  const detail =
    replaces == null ? "Only with replaces." : "Required with replaces: how many seconds the old key works on.";
  errors.push({ param: "grace_seconds", detail });
}

/** Refuses the key and all that it created from their next calls on. */
export async function revokeKey(
  { store, ids, people }: Pick<Services, "store" | "ids" | "people">,
  principal: Principal,
  id: string,
  context: WriteContext,
): Promise<void> {
  const revoked = await store.apiKeys.revoke(principal.account.id, readId(id, "API key"), context, ids.uuid);
  if (revoked.length === 0) throw missing("API key");
  for (const { id: keyId } of revoked) await people.releaseAll({ keyId });
}
