/** The keys with which websites sign tokens for their visitors. Each engine finds them differently. */
import { toPage } from "../../../contracts/store/page.ts";
import { maxCompared, type VisitorKey, type VisitorKeyStore } from "../../../contracts/store/visitor-keys.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { coversFacts, factsOfFilter, maxKeysOfFilter, maxVisitorKeys } from "../../../domain/visitor.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { beforeAll } from "../rows/budgets.ts";
import { listEmails } from "./accounts.ts";
import { changes } from "./changes.ts";
import { all, columns, get, insert, run, type Script, type ScriptRunner } from "./script.ts";

type KeyRow = Omit<VisitorKey, "metadata"> & { metadata: string | null };

const shown = columns<KeyRow>("visitor_keys", ["id", "name", "algorithm", "metadata", "sealed", "createdAt"]);
const selectPage = (after: string) => `SELECT ${shown} FROM visitor_keys
  WHERE account_id = $1 AND sealed IS NOT NULL AND id ${after} LIMIT $3`;

export const visitorKeyQueries = {
  pages: { desc: selectPage("< $2 ORDER BY id DESC"), asc: selectPage("> $2 ORDER BY id") },
  count: `SELECT (SELECT count(*) FROM visitor_keys WHERE account_id = $1) AS "ofAccount",
    (SELECT count(*) FROM visitor_keys WHERE filter_hash = $2 AND sealed IS NOT NULL) AS "ofFilter"`,
  rarest: `SELECT f.fact FROM unnest($1::text[]) AS f(fact) ORDER BY
    (SELECT count(*) FROM visitor_keys k WHERE k.fact = f.fact AND k.sealed IS NOT NULL) LIMIT 1`,
};

const isLive = "id = $2 AND account_id = $1 AND sealed IS NOT NULL";
// A revoked key stays only where there is no other: it shows that the account has had keys.
const removeOne = `DELETE FROM visitor_keys WHERE ${isLive}
  AND EXISTS (SELECT 1 FROM visitor_keys o WHERE o.account_id = $1 AND o.id <> $2) RETURNING ${shown}`;
const revokeOne = `UPDATE visitor_keys SET sealed = NULL WHERE ${isLive} RETURNING ${shown}`;
const selectHolders = `SELECT email FROM accounts WHERE id IN (SELECT account_id FROM visitor_keys)
  ORDER BY number LIMIT $1`;
const forgetCallers = `UPDATE voice_sessions SET sealed_visitor = NULL
  WHERE account_id = $1 AND sealed_visitor IS NOT NULL`;

const forgetEventVisitors = `UPDATE webhook_deliveries SET sealed_visitor = NULL
  WHERE sealed_visitor IS NOT NULL AND webhook_id IN (SELECT id FROM webhooks WHERE account_id = $1)`;

const toKey = ({ metadata, ...key }: KeyRow): VisitorKey => ({
  ...key,
  metadata: metadata === null ? null : JSON.parse(metadata),
});

function* record(context: WriteContext, accountId: string, action: string, key: VisitorKeyFacts): Script<void> {
  yield* changes.record(context, { accountId, action, targetId: key.id, details: describeVisitorKey(key) });
}

/** How many keys there are already: of the account, with a revoked one if that is the only one. */
interface LiveKeys {
  ofAccount: number;
  ofFilter: number;
}

function requireRoom({ ofAccount, ofFilter }: LiveKeys): void {
  if (ofFilter >= maxKeysOfFilter) {
    // Of a filter, so that one can replace the other.
    const sentence = `There are ${maxKeysOfFilter} visitor keys for these companions already. Revoke one first.`;
    throw new AppError("conflict", sentence);
  }
  if (ofAccount >= maxVisitorKeys) {
    throw new AppError("limit_reached", `An account has at most ${maxVisitorKeys} visitor keys. Revoke one first.`);
  }
}

/** What an engine has of its own. */
export interface VisitorKeyLookups extends Pick<VisitorKeyStore, "find" | "findOnly"> {
  /** Deletes what is sealed in all conversations of the account, in commits of bounded size. */
  forgetVisitors(accountId: string): Promise<void>;
}

export function createVisitorKeyStore(
  scripts: ScriptRunner,
  { forgetVisitors, ...lookups }: VisitorKeyLookups,
): VisitorKeyStore {
  return {
    ...lookups,

    create: (accountId, key, context) =>
      scripts.change(accountId, function* () {
        yield* changes.requireAccount(accountId);
        const { facts, filterHash } = indexFilter(accountId, key);
        const live = (yield* get<LiveKeys>(visitorKeyQueries.count, accountId, filterHash)) as LiveKeys;
        requireRoom(live);
        if (live.ofAccount === 1)
          yield* run("DELETE FROM visitor_keys WHERE account_id = $1 AND sealed IS NULL", accountId);
        const { fact = "" } = (yield* get<{ fact: string }>(visitorKeyQueries.rarest, facts)) ?? {};
        const metadata = key.metadata === null ? null : JSON.stringify(key.metadata);
        yield* insert("visitor_keys", { ...key, metadata, accountId, fact, filterHash });
        yield* record(context, accountId, "visitor_key.create", key);
      }),

    async list(accountId, { limit, afterId, order = "desc" }) {
      const after = afterId ?? beforeAll[order];
      const rows = await scripts.read(() => all<KeyRow>(visitorKeyQueries.pages[order], accountId, after, limit + 1));
      return toPage(rows.map(toKey), limit);
    },

    revoke: (accountId, id, context) =>
      scripts.change(accountId, function* () {
        const row = (yield* get<KeyRow>(removeOne, accountId, id)) ?? (yield* get<KeyRow>(revokeOne, accountId, id));
        if (row === null) return false;
        yield* record(context, accountId, "visitor_key.revoke", toKey(row));
        return true;
      }),

    listHolders: (limit) => scripts.readHeavy(() => listEmails(selectHolders, limit)),

    async reset(accountId, context) {
      // The keys last: as long as one is there, the account is still among those that hold sealed text.
      await forgetVisitors(accountId);
      return await scripts.changeHeavy(accountId, function* () {
        if ((yield* changes.findAccountNumber(accountId)) === null) return false;
        yield* run(forgetCallers, accountId);
        yield* run(forgetEventVisitors, accountId);
        yield* run("DELETE FROM visitor_keys WHERE account_id = $1", accountId);
        yield* changes.record(context, { accountId, action: "visitor_key.reset", targetId: accountId, details: {} });
        return true;
      });
    },
  };
}

type VisitorKeyFacts = Pick<VisitorKey, "id" | "name" | "algorithm" | "metadata">;

/** One more is read, so that more are noticed. */
export const maxCandidates = maxCompared + 1;

/** As they are indexed: with the account, so that each query has one index to go by. */
export function indexFacts(accountId: string, facts: readonly string[]): string[] {
  return facts.map((fact) => `${accountId} ${fact}`);
}

function indexFilter(accountId: string, { metadata }: Pick<VisitorKey, "metadata">) {
  const facts = indexFacts(accountId, factsOfFilter(metadata));
  return { facts, filterHash: sha256Hex(JSON.stringify(facts)) };
}

/** `candidates`: the live keys that are found under any of the facts. */
export function pickOnly(candidates: readonly VisitorKey[], facts: readonly string[]): VisitorKey | null {
  if (candidates.length > maxCompared) return null;
  const has = new Set(facts);
  const [only = null, ...others] = candidates.filter(({ metadata }) => coversFacts(metadata, has));
  return others.length === 0 ? only : null;
}

function describeVisitorKey({ name, algorithm, metadata }: VisitorKeyFacts): Record<string, string> {
  return { name, algorithm, ...(metadata === null ? {} : { metadata: JSON.stringify(metadata) }) };
}
