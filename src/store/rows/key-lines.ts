/** The rules of key lines, and what the audit log says of them. */
import type { ApiKey } from "../../domain/account.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import type { EndedKey, NewApiKey } from "../contract/api-keys.ts";
import type { AuditEntry } from "../contract/audit.ts";
import type { WriteContext } from "../contract/write-context.ts";

export interface KeyLineChange {
  accountId: string;
  accountNumber: number;
  context: WriteContext;
  makeAuditId: () => string;
}

/** `maker`: the creating key, or null if it is no longer valid. It may have ended since the request was admitted. */
export function requireLastingMaker(
  maker: { expiresAt: number | null } | null,
  { expiresAt }: NewApiKey,
  nowMs: number,
): void {
  const endsAt = maker === null ? nowMs : (maker.expiresAt ?? Number.POSITIVE_INFINITY);
  if (endsAt > nowMs && endsAt >= (expiresAt ?? Number.POSITIVE_INFINITY)) return;
  throw new AppError(
    "conflict",
    "The API key of this request has been changed in the meantime. Send the request again.",
  );
}

/** A key of a line, revoked ones included. */
export interface LineKey {
  id: string;
  createdByKeyId: string | null;
  expiresAt: number | null;
}

/** The line is empty if there is no such key. */
export function requireReplaceable(line: readonly LineKey[]): void {
  if (line.length === 0) throw invalidFields([{ param: "replaces", detail: "There is no such active API key." }]);
}

/**
 * The ids of the line that end with the key `keyId`, as `ApiKeyStore` says of successors. `askerId`: the key that asks for
 * it, null for a person.
 */
export function listEnding(
  line: readonly LineKey[],
  { keyId, askerId, nowMs }: { keyId: string; askerId: string | null; nowMs: number },
): string[] {
  const root = line.find(({ id }) => id === keyId);
  if (root === undefined) return [];
  const sparesSuccessors = endOf(root) <= nowMs || line.some(({ id }) => id === askerId);
  if (!sparesSuccessors) return line.map(({ id }) => id);
  const madeBy = Map.groupBy(line, ({ createdByKeyId }) => createdByKeyId);
  const ending = [root];
  // The list grows during the loop.
  for (const maker of ending) {
    for (const key of madeBy.get(maker.id) ?? []) if (endOf(key) <= endOf(maker)) ending.push(key);
  }
  return ending.map(({ id }) => id);
}

/** Of a key that is revoked. */
export function toEnd(keyId: string, { actor, nowMs }: WriteContext) {
  return { keyId, askerId: actor.kind === "key" ? actor.id : null, nowMs };
}

function endOf({ expiresAt }: LineKey): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}

function describe({ name, start, lastFour }: EndedKey) {
  return { name, start, last_four: lastFour };
}

/** Of a rotation. */
export interface MadeKeyFacts {
  replaces?: string;
  budgets_moved?: number;
}

export function describeMadeKey(made: ApiKey, more: MadeKeyFacts) {
  const details = { ...describe(made), scopes: [...made.scopes], ...more };
  return { accountId: made.accountId, action: "key.create", targetId: made.id, details };
}

export function toLineEntry(
  { accountId, context, makeAuditId }: KeyLineChange,
  key: EndedKey,
  action: string,
  more: Record<string, string>,
): AuditEntry {
  const { actor, nowMs: createdAt } = context;
  const details = { ...describe(key), ...more };
  return { id: makeAuditId(), accountId, actor, action, targetId: key.id, details, createdAt };
}

/** The key itself first, then its line in the order in which it was created: databases return rows in any order. */
export function sortLine(keys: readonly EndedKey[], keyId: string): EndedKey[] {
  const rank = ({ id }: EndedKey) => (id === keyId ? "" : id);
  return keys.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
}

/** Of keys that were revoked together; the first of them is the key itself. */
export function toRevokeEntries(
  change: KeyLineChange,
  [root, ...others]: readonly EndedKey[],
  ofRoot: Record<string, string>,
): AuditEntry[] {
  if (root === undefined) return [];
  const withRoot = others.map((key) => toLineEntry(change, key, "key.revoke", { revoked_with: root.id }));
  return [toLineEntry(change, root, "key.revoke", ofRoot), ...withRoot];
}
