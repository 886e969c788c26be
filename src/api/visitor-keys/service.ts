/** What an account can do with its visitor keys. */

import type { VisitorKey, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { makeSecret, type PublicJwk, readPublicJwk, sealedKeyName } from "../../core/visitors/key-material.ts";
import { AppError, type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { findFilterProblem } from "../../http/schemas/metadata-filter.ts";
import { explainSecret, omitReadOnly, pickSound } from "../../http/schemas/named-object.ts";
import { type NewVisitorKeyBody, newVisitorKeyBody } from "./model.ts";
import { type ShownVisitorKey, VisitorKeyObject } from "./responses.ts";

/** A key that is about to be created; `write` commits it. */
export interface PreparedVisitorKey {
  made: ShownVisitorKey;
  /** For HS256. */
  secret: string | null;
  write(context: WriteContext): Promise<unknown>;
}

export async function prepareVisitorKey(
  { store, ids, sealing }: Pick<Services, "store" | "ids" | "sealing">,
  accountId: string,
  body: unknown,
  createdAt: number,
): Promise<PreparedVisitorKey> {
  // Not those of a new key: who sends a `secret` believes that it counts.
  const settable = omitReadOnly(body, newVisitorKeyBody, VisitorKeyObject);
  const errors = newVisitorKeyBody.listErrors(settable).map(explainSecret);
  const isAtFault = (param: string) => errors.some((error) => error.param === param);
  if (isAtFault("")) newVisitorKeyBody.check(settable);
  const { algorithm, ...unchecked } = settable as NewVisitorKeyBody;
  const publicJwk =
    isAtFault("algorithm") || isAtFault("public_jwk") ? null : await readJwk(algorithm, unchecked, errors);
  const { metadata: sound } = pickSound<NewVisitorKeyBody>(settable, errors);
  const problem = sound == null ? null : findFilterProblem(sound);
  if (problem !== null) errors.push({ param: "metadata", detail: problem });
  if (errors.length > 0) throw invalidFields(errors);
  const { name, metadata = null } = newVisitorKeyBody.check(settable);
  const id = ids.uuid();
  const secret = publicJwk === null ? makeSecret(ids.bytes) : null;
  const sealed = await sealing.seal(sealedKeyName(accountId, id), secret ?? JSON.stringify(publicJwk));
  return {
    made: { id, name, algorithm, metadata, publicJwk, createdAt },
    secret,
    write: (context) =>
      store.visitorKeys.create(accountId, { id, name, algorithm, metadata, sealed, createdAt }, context),
  };
}

async function readJwk(
  algorithm: NewVisitorKeyBody["algorithm"],
  { public_jwk: sent }: Pick<NewVisitorKeyBody, "public_jwk">,
  errors: FieldError[],
): Promise<PublicJwk | null> {
  if (algorithm === "HS256") {
    if (sent != null)
      errors.push({ param: "public_jwk", detail: "Only for ES256 and EdDSA: the server makes the secret." });
    return null;
  }
  if (sent == null) {
    errors.push({ param: "public_jwk", detail: `Required for ${algorithm}: the public key as a JWK.` });
    return null;
  }
  const read = await readPublicJwk(algorithm, sent);
  if (!Array.isArray(read)) return read;
  errors.push(...read);
  return null;
}

/** With its public key, which is sealed too, so that no one can replace it. */
export async function showVisitorKey(
  { sealing }: Pick<Services, "sealing">,
  accountId: string,
  { sealed, ...key }: VisitorKey,
): Promise<ShownVisitorKey> {
  if (key.algorithm === "HS256") return { ...key, publicJwk: null };
  try {
    const publicJwk: PublicJwk = JSON.parse(await sealing.open(sealedKeyName(accountId, key.id), sealed));
    return { ...key, publicJwk };
  } catch (cause) {
    throw new AppError("unavailable", "The visitor keys cannot be opened at the moment.", { cause });
  }
}

/** Tokens that are signed with it are refused from their next request on. */
export async function revokeVisitorKey(
  { store }: Pick<Services, "store">,
  accountId: string,
  id: string,
  context: WriteContext,
): Promise<void> {
  if (!(await store.visitorKeys.revoke(accountId, readId(id, "visitor key"), context))) throw missing("visitor key");
}
