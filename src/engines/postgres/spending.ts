/** What budgets see of usage and calls, in PostgreSQL. */

import type { CompanionChoice } from "../../contracts/store/spending.ts";
import { type Budget, type BudgetPeriod, type BudgetSubject, factsOfSubject, isReached } from "../../domain/budget.ts";
import { type Cost, noCost } from "../../domain/money.ts";
import {
  addChoices,
  daysOfPeriod,
  filtersOfSubject,
  hasSubject,
  textsOfSubject,
} from "../store-shared/rows/budgets.ts";
import { parseMetadata } from "../store-shared/rows/companion.ts";
import type { UsageLabel, UsageSource } from "../store-shared/rows/usage-reader.ts";
import { all, part, run } from "../store-shared/scripts/script.ts";
import type { SpendingParts } from "../store-shared/scripts/spending.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { listCountedKeys, readReached, spendingQueries } from "./spending-ledger.ts";
import type { Transaction } from "./transaction.ts";
import { createLabelIndex } from "./usage-label-index.ts";

const forgetReserved = `UPDATE spending_reservations r
  SET budget_ids = (SELECT coalesce(jsonb_agg(i.id), '[]')::text FROM jsonb_array_elements_text(r.budget_ids::jsonb) AS i (id)
    WHERE i.id <> $2)
  WHERE r.account_id = $1 AND r.budget_ids::jsonb ? $2`;
const selectDue = "SELECT id FROM spending_reservations WHERE due_at <= $1 ORDER BY due_at LIMIT $2";
const settleAtWorst = "SELECT settle_at_worst($1::text[], $2::bigint)::text AS reached";

export function createSpendingParts(
  engine: PostgresEngine,
  { bell, changes, events, metadata, spending }: StoreParts,
): SpendingParts {
  const labelIndex = createLabelIndex(engine, changes);
  const findLabels = (accountId: string, subject: BudgetSubject) =>
    findSubjectLabels(engine.heavy, labelIndex.walk, accountId, subject);

  return {
    emit: (event) => part((transaction: Transaction) => events.emit(transaction, [event])),

    match: (accountId, facts) => all(spendingQueries.match, accountId, JSON.stringify(facts)),

    async withSum(accountId, { subject }, nowMs, work) {
      const labels = await findLabels(accountId, subject);
      return await work((budget) =>
        part((transaction: Queries) => beginPeriod(transaction, accountId, { budget, labels, nowMs })),
      );
    },

    forgetReserved: (accountId, budgetId) => run(forgetReserved, accountId, budgetId),

    async sumSpent(accountId, subject, period, nowMs) {
      const labels = await findLabels(accountId, subject);
      return await sumSubject(engine.heavy, accountId, { subject, period, nowMs }, labels);
    },

    listCountedKeys: (keyId) => listCountedKeys(engine.quick, keyId),

    listChoices: createSpendingChoices(engine.heavy, { changes, metadata }),

    reserve: (call) => spending.reserve(engine.quickPool.once, call),

    release: async (id) => {
      await engine.quick.run(spendingQueries.release, [id]);
    },

    settleDue: async (nowMs, limit) => {
      const due = await engine.heavy.all<{ id: string }>(selectDue, [nowMs, limit]);
      if (due.length === 0) return { settled: 0, reached: [] };
      const ids = due.map(({ id }) => id);
      const row = await engine.writeHeavy((transaction) =>
        transaction.get<{ reached: string }>(settleAtWorst, [ids, nowMs]),
      );
      const reached = readReached(row);
      if (reached.length > 0) bell.ring();
      return { settled: due.length, reached };
    },
  };
}

const select = (condition: string) => `SELECT model, reasoning_effort AS "reasoningEffort",
    voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS "hasVoice", min(max_output_tokens) AS "maxOutputTokens",
    min(coalesce(octet_length(system_prompt), 0)) AS "promptBytes"
  FROM companions WHERE ${condition} GROUP BY 1, 2, 3`;
const ofAccount = "account_id = $1";
const ofNumbers = "number = ANY ($1::float8[]::bigint[])";
const companionsPerQuery = 1_000;

/** What the companions may call whose calls a budget counts, read from PostgreSQL. Each once. */
function createSpendingChoices(heavy: Queries, { changes, metadata }: Pick<StoreParts, "changes" | "metadata">) {
  async function* readChoices(accountId: string, subject: BudgetSubject): AsyncGenerator<CompanionChoice[]> {
    if ("keyId" in subject) {
      const keyIds = await listCountedKeys(heavy, subject.keyId);
      yield await heavy.all(select(`${ofAccount} AND created_by_key_id = ANY ($2::text[])`), [accountId, keyIds]);
    } else if ("companionId" in subject) {
      yield await heavy.all(select(`${ofAccount} AND id = $2`), [accountId, subject.companionId]);
    } else if (!("metadata" in subject)) {
      yield await heavy.all(select(ofAccount), [accountId]);
    } else {
      const account = await changes.findAccountNumber(heavy, accountId);
      if (account === null) return;
      const filters = filtersOfSubject(subject.metadata);
      for await (const numbers of metadata.walk(heavy, account, filters, Number.MAX_SAFE_INTEGER, companionsPerQuery)) {
        yield await heavy.all(select(ofNumbers), [numbers]);
      }
    }
  }

  return async (accountId: string, subject: BudgetSubject): Promise<CompanionChoice[]> => {
    const choices = new Map<string, CompanionChoice>();
    for await (const some of readChoices(accountId, subject)) addChoices(choices, some);
    return [...choices.values()];
  };
}

const summed = "coalesce(sum(u.cost_micros), 0)::float8 AS micros, coalesce(sum(u.cost_picos), 0)::float8 AS picos";
const ofDays = "u.account_id = $1 AND u.day >= $2 AND u.day < $3";
const sumAccount = `SELECT ${summed} FROM usage_account_daily u WHERE ${ofDays}`;
const sumKeys = `${sumAccount} AND u.key_id = ANY ($4::text[])`;
const sumCompanion = `SELECT ${summed} FROM usage_daily u WHERE ${ofDays} AND u.companion_id = $4`;
const sumLabels = `SELECT ${summed} FROM unnest($4::text[]) AS c (id)
  CROSS JOIN LATERAL (SELECT u.cost_micros, u.cost_picos FROM usage_daily u
    WHERE ${ofDays} AND u.companion_id = c.id AND u.label = ANY ($5::bigint[]) OFFSET 0) AS u`;
const mayHave = "NOT EXISTS (SELECT FROM unnest($2::text[]) AS part (text) WHERE strpos(metadata, part.text) = 0)";
const selectNewest = "SELECT coalesce(max(number), 0)::float8 AS number FROM usage_labels";
const selectNewLabels = `SELECT number::float8 AS number, companion_id AS "companionId", metadata FROM usage_labels
  WHERE account_id = $1 AND ${mayHave} AND number > $3 AND NOT number = ANY ($4::bigint[])`;
/** Numbers are given before they are committed: as many below the newest may have come after it. */
const notYetCommitted = 1_000;

/** The labels of a subject that were there at a moment: those that come later are found by their number. */
interface FoundLabels {
  labels: readonly UsageLabel[];
  above: number;
}

/** For `sumSubject`, before a transaction: there may be thousands, which are read a few at a time. */
async function findSubjectLabels(
  heavy: Queries,
  walk: UsageSource["walkLabels"],
  accountId: string,
  subject: BudgetSubject,
): Promise<FoundLabels> {
  if (!("metadata" in subject)) return { labels: [], above: 0 };
  const newest = await heavy.get<{ number: number }>(selectNewest, []);
  const labels: UsageLabel[] = [];
  for await (const found of walk(accountId, filtersOfSubject(subject.metadata))) labels.push(...found);
  return { labels, above: (newest?.number ?? 0) - notYetCommitted };
}

async function sumSubject(
  queries: Queries,
  accountId: string,
  { subject, period, nowMs }: { subject: BudgetSubject; period: BudgetPeriod; nowMs: number },
  known: FoundLabels,
): Promise<Cost> {
  const { fromDay, toDay } = daysOfPeriod(period, nowMs);
  const days = [accountId, fromDay, toDay];
  const sum = async (text: string, ...more: (string | string[] | number[])[]) =>
    (await queries.get<Cost>(text, [...days, ...more])) ?? noCost;
  if ("keyId" in subject) return await sum(sumKeys, await listCountedKeys(queries, subject.keyId));
  if ("companionId" in subject) return await sum(sumCompanion, subject.companionId);
  if (!("metadata" in subject)) return await sum(sumAccount);
  const found = await queries.all<UsageLabel & { metadata: string }>(selectNewLabels, [
    accountId,
    textsOfSubject(subject.metadata),
    known.above,
    known.labels.map(({ number }) => number),
  ]);
  const added = found.filter(({ metadata }) => hasSubject(parseMetadata(metadata), subject.metadata));
  const labels = [...known.labels, ...added];
  const companionIds = [...new Set(labels.map(({ companionId }) => companionId))];
  return await sum(
    sumLabels,
    companionIds,
    labels.map(({ number }) => number),
  );
}

// What calls under way hold, a budget holds from its beginning.
const insertPeriod = `WITH held AS (
    UPDATE spending_reservations r SET budget_ids = (r.budget_ids::jsonb || to_jsonb($1::text))::text
    WHERE r.account_id = $6 AND r.day >= $2 AND r.day < $7 AND with_kin(r.account_id, r.facts::jsonb) @> $8::text::jsonb
    RETURNING r.micros
  )
  INSERT INTO budget_periods (budget_id, start_day, spent_micros, spent_picos, reached_at, reserved_micros)
  SELECT $1, $2, $3, $4, $5, coalesce(sum(held.micros), 0) FROM held`;

/** For a budget that counts from the start of the period in which it was made or changed. */
async function beginPeriod(
  transaction: Queries,
  accountId: string,
  { budget, labels, nowMs }: { budget: Budget; labels: FoundLabels; nowMs: number },
): Promise<void> {
  const { id, subject, period, limitMicros } = budget;
  const spent = await sumSubject(transaction, accountId, { subject, period, nowMs }, labels);
  const reachedAt = isReached(spent, limitMicros) ? nowMs : null;
  const { fromDay, toDay } = daysOfPeriod(period, nowMs);
  const facts = JSON.stringify(factsOfSubject(subject));
  const counts = [spent.micros, spent.picos, reachedAt];
  await transaction.run(insertPeriod, [id, fromDay, ...counts, accountId, toDay, facts]);
}
