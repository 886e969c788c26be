/** What a budget's subject has cost so far, read from usage in PostgreSQL. */
import { type Budget, type BudgetPeriod, type BudgetSubject, factsOfSubject, isReached } from "../../domain/budget.ts";
import { type Cost, noCost } from "../../domain/money.ts";
import { daysOfPeriod, filtersOfSubject, hasSubject, textsOfSubject } from "../store-shared/rows/budgets.ts";
import { parseMetadata } from "../store-shared/rows/companion.ts";
import type { UsageLabel, UsageSource } from "../store-shared/rows/usage-reader.ts";
import type { Queries } from "./queries.ts";
import { listCountedKeys } from "./spending-ledger.ts";

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
export interface FoundLabels {
  labels: readonly UsageLabel[];
  above: number;
}

/** For `sumSubject`, before a transaction: there may be thousands, which are read a few at a time. */
export async function findSubjectLabels(
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

export async function sumSubject(
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
export async function beginPeriod(
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
