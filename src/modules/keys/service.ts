/** What an account does with its API keys. */
import { type ApiKey, type Principal, scopes } from "../../domain/account.ts";
import { apiKeyStart } from "../../domain/credentials.ts";
import { type FieldError, invalidFields } from "../../domain/errors.ts";
import { omitFields } from "../../http/omit-fields.ts";
import { missing, readPathId } from "../../http/path-id.ts";
import { insufficientScope } from "../../http/principal-guard.ts";
import type { Services } from "../../http/services.ts";
import { parseInstant } from "../../lib/instant.ts";
import { sha256 } from "../../lib/sha256.ts";
import type { WriteContext } from "../../store/store.ts";
import { newKeyBody, readOnlyKeyFields } from "./model.ts";

/** Makes the record of `key`, of which only the hash is kept. */
export async function createKey(
  { store, ids, clock }: Pick<Services, "store" | "ids" | "clock">,
  principal: Principal,
  body: unknown,
  key: string,
  context: WriteContext,
): Promise<ApiKey> {
  const settable = omitFields(body, readOnlyKeyFields);
  const errors = newKeyBody.listErrors(settable);
  const isAtFault = (param: string) => errors.some((error) => error.param === param);
  const expiresAt = isAtFault("") || isAtFault("expires_at") ? null : readExpiry(settable, clock.nowMs(), errors);
  if (errors.length > 0 && !isAtFault("")) throw invalidFields(errors);
  const sent = newKeyBody.check(settable);
  const lacking = sent.scopes.filter((scope) => !principal.scopes.includes(scope));
  if (lacking.length > 0) throw insufficientScope([...new Set(lacking)]);
  return store.apiKeys.create(
    principal.account.id,
    {
      id: ids.uuid(),
      name: sent.name,
      start: apiKeyStart(key),
      hash: sha256(key),
      scopes: scopes.filter((scope) => sent.scopes.includes(scope)),
      expiresAt,
    },
    context,
  );
}

/** Null where none is sent; the calendar is the last thing to check, since a pattern cannot. */
function readExpiry(body: unknown, nowMs: number, errors: FieldError[]): number | null {
  const text = (body as { expires_at?: string | null }).expires_at ?? null;
  if (text === null) return null;
  const expiresAt = parseInstant(text);
  if (expiresAt === null) errors.push({ param: "expires_at", detail: "There is no such instant." });
  else if (expiresAt <= nowMs) errors.push({ param: "expires_at", detail: "Must be in the future." });
  return expiresAt;
}

/** Refused from its next call on. */
export async function revokeKey(
  { store }: Pick<Services, "store">,
  principal: Principal,
  id: string,
  context: WriteContext,
): Promise<void> {
  const isRevoked = await store.apiKeys.revoke(principal.account.id, readPathId(id, "API key"), context);
  if (!isRevoked) throw missing("API key");
}
