/** API keys: made, replaced, listed and revoked. Each engine finds them differently. */
import { type ApiKeyStore, type NewApiKey, toMadeKey } from "../../../contracts/store/api-keys.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { type ApiKey, type Scope, scopes } from "../../../domain/account.ts";
import { invalidFields } from "../../../domain/errors.ts";
import { toSubjectColumns } from "../rows/budgets.ts";
import { changes } from "./changes.ts";
import { holdings } from "./holdings.ts";
import {
  describeMadeKey,
  listEnding,
  type MadeKeyFacts,
  replaceInLine,
  requireMaker,
  revokeLine,
  selectLine,
  toEnd,
} from "./key-lines.ts";
import { all, columns, get, insert, lock, type Parameter, run, type Script, type ScriptRunner } from "./script.ts";

type Listed = Omit<ApiKey, "accountId" | "scopes"> & { scopes: string };

const shown = columns<Listed>("k", [
  ...(["id", "name", "start", "lastFour", "scopes", "expiresAt", "lastUsedAt", "requests"] as const),
  ...(["createdAt", "createdByKeyId", "replacedByKeyId", "replacedAt"] as const),
]);
const selectOfAccount = `SELECT ${shown} FROM api_keys k
  WHERE k.account_number = (SELECT number FROM accounts WHERE id = $1) AND k.revoked_at IS NULL
  ORDER BY k.created_at DESC, k.id DESC`;
const selectBudget = "SELECT 1 AS one FROM budgets WHERE account_id = $1 AND fact = $2 LIMIT 1";
const moveBudgets = `UPDATE budgets SET subject = $3, facts = $4, fact = $5, updated_at = $6
  WHERE account_id = $1 AND fact = $2`;

/** The budgets on a key become those of another; returns how many. */
function* moveKey(accountId: string, keyId: string, newId: string, nowMs: number): Script<number> {
  const { subject, facts, fact } = toSubjectColumns({ keyId: newId });
  const old = toSubjectColumns({ keyId }).fact;
  if ((yield* get(selectBudget, accountId, old)) === null) return 0;
  yield* lock(`spending ${accountId}`);
  return yield* run(moveBudgets, accountId, old, subject, facts, fact, nowMs);
}

function* finish(context: WriteContext, made: ApiKey, more: MadeKeyFacts): Script<void> {
  yield* holdings.checkNewKey(made.accountId, context);
  yield* changes.record(context, describeMadeKey(made, more));
}

/** What an engine has of its own; `encodeHash`: how it stores the hash of a key. */
export interface KeyLookups extends Pick<ApiKeyStore, "findByHash" | "checkCaller" | "recordUses"> {
  encodeHash(hash: Uint8Array): Parameter;
}

export function createApiKeyStore(scripts: ScriptRunner, { encodeHash, ...lookups }: KeyLookups): ApiKeyStore {
  function* create(accountNumber: number, key: NewApiKey, made: ApiKey, replacesKeyId: string | null): Script<void> {
    yield* requireMaker(accountNumber, key, made.createdAt);
    const { accountId: _, scopes, ...shown } = made;
    const stored = { ...shown, scopes: encodeScopes(scopes), hash: encodeHash(key.hash), accountNumber, replacesKeyId };
    yield* insert("api_keys", stored);
  }

  return {
    ...lookups,

    create: (accountId, key, context) =>
      scripts.change(accountId, function* () {
        const made = toMadeKey(accountId, key, context.nowMs);
        yield* create(yield* changes.requireAccount(accountId), key, made, null);
        yield* finish(context, made, {});
        return made;
      }),

    replace: (accountId, old, key, context, makeAuditId) =>
      scripts.change(accountId, function* () {
        const accountNumber = yield* changes.requireAccount(accountId);
        const made = toMadeKey(accountId, key, context.nowMs);
        const { keyId } = old;
        const line = yield* selectLine(accountNumber, keyId);
        if (line.length === 0) throw invalidFields([{ param: "replaces", detail: "There is no such active API key." }]);
        const { nowMs } = context;
        const ending = listEnding(line, { keyId, askerId: key.createdByKeyId, nowMs });
        yield* create(accountNumber, key, made, keyId);
        yield* replaceInLine({ accountId, accountNumber, context, makeAuditId }, old, ending, made.id);
        const moved = yield* moveKey(accountId, keyId, made.id, nowMs);
        yield* finish(context, made, { replaces: keyId, ...(moved > 0 && { budgets_moved: moved }) });
        return made;
      }),

    async list(accountId) {
      const rows = await scripts.read(() => all<Listed>(selectOfAccount, accountId));
      return rows.map((row) => ({ ...row, accountId, scopes: decodeScopes(row.scopes) }));
    },

    revoke: (accountId, keyId, context, makeAuditId) =>
      scripts.change(accountId, function* () {
        const accountNumber = yield* changes.findAccountNumber(accountId);
        if (accountNumber === null) return [];
        const ending = listEnding(yield* selectLine(accountNumber, keyId), toEnd(keyId, context));
        return yield* revokeLine({ accountId, accountNumber, context, makeAuditId }, keyId, ending);
      }),
  };
}

/** Stored in databases: a letter never gets a different meaning. */
const letters: Record<Scope, string> = {
  "companions:read": "c",
  "companions:write": "C",
  "conversations:read": "v",
  "conversations:write": "V",
  "conversations:reply": "r",
  "usage:read": "u",
  "keys:read": "k",
  "keys:write": "K",
  "audit:read": "a",
  "chat:write": "H",
  "budgets:write": "B",
  "knowledge:read": "n",
  "knowledge:write": "N",
  "webhooks:read": "w",
  "webhooks:write": "W",
};

const scopeOf = new Map(scopes.map((scope) => [letters[scope], scope]));

/** Scopes as stored with API keys: one letter each, since every check reads them. In the order given. */
function encodeScopes(granted: readonly Scope[]): string {
  return granted.map((scope) => letters[scope]).join("");
}

/** Letters of a newer program are ignored: they grant nothing here. */
export function decodeScopes(text: string): Scope[] {
  return [...text].flatMap((letter) => scopeOf.get(letter) ?? []);
}
