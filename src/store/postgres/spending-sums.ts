/** What a budget's subject has cost so far, and what its companions may call, read from usage and companions in PostgreSQL. */
import type { BudgetPeriod, BudgetSubject } from "../../domain/budget.ts";
import { type Cost, noCost } from "../../domain/money.ts";
import type { CompanionChoice } from "../contract/spending.ts";
import { daysOfPeriod, hasSubject, textsOfSubject } from "../rows/budgets.ts";
import { parseMetadata } from "../rows/companion.ts";
import type { Queries } from "./queries.ts";

const summed = "coalesce(sum(u.cost_micros), 0)::float8 AS micros, coalesce(sum(u.cost_picos), 0)::float8 AS picos";
const ofDays = "u.account_id = $1 AND u.day >= $2 AND u.day < $3";
const sumAccount = `SELECT ${summed} FROM usage_account_daily u WHERE ${ofDays}`;
const sumCompanion = `SELECT ${summed} FROM usage_daily u WHERE ${ofDays} AND u.companion_id = $4`;
const sumLabels = `SELECT ${summed} FROM unnest($4::text[], $5::bigint[]) AS l (companion_id, label)
  CROSS JOIN LATERAL (SELECT u.cost_micros, u.cost_picos FROM usage_daily u
    WHERE ${ofDays} AND u.companion_id = l.companion_id AND u.label = l.label OFFSET 0) AS u`;
const mayHave = "NOT EXISTS (SELECT FROM unnest($2::text[]) AS part (text) WHERE strpos(metadata, part.text) = 0)";
const selectLabels = `SELECT number::float8 AS number, companion_id AS "companionId", metadata FROM usage_labels
  WHERE account_id = $1 AND ${mayHave}`;

const choice = `model, voice_id IS NOT NULL OR voice_agent_id IS NOT NULL AS "hasVoice"`;
const ofAccount = "FROM companions WHERE account_id = $1";

export async function sumSubject(
  queries: Queries,
  accountId: string,
  subject: BudgetSubject,
  period: BudgetPeriod,
  nowMs: number,
): Promise<Cost> {
  const { fromDay, toDay } = daysOfPeriod(period, nowMs);
  const days = [accountId, fromDay, toDay];
  const sum = async (text: string, ...more: (string | string[] | number[])[]) =>
    (await queries.get<Cost>(text, [...days, ...more])) ?? noCost;
  if ("keyId" in subject) return await sum(`${sumAccount} AND u.key_id = $4`, subject.keyId);
  if ("companionId" in subject) return await sum(sumCompanion, subject.companionId);
  if (!("metadata" in subject)) return await sum(sumAccount);
  const texts = textsOfSubject(subject.metadata);
  const found = await queries.all<{ number: number; companionId: string; metadata: string }>(selectLabels, [
    accountId,
    texts,
  ]);
  const labels = found.filter(({ metadata }) => hasSubject(parseMetadata(metadata), subject.metadata));
  const companionIds = labels.map(({ companionId }) => companionId);
  return await sum(
    sumLabels,
    companionIds,
    labels.map(({ number }) => number),
  );
}

/** Each once. */
export async function listSubjectChoices(
  queries: Queries,
  accountId: string,
  subject: BudgetSubject,
): Promise<CompanionChoice[]> {
  if ("keyId" in subject) {
    const text = `SELECT DISTINCT ${choice} ${ofAccount} AND created_by_key_id = $2`;
    return await queries.all(text, [accountId, subject.keyId]);
  }
  if ("companionId" in subject) {
    return await queries.all(`SELECT ${choice} ${ofAccount} AND id = $2`, [accountId, subject.companionId]);
  }
  if (!("metadata" in subject)) return await queries.all(`SELECT DISTINCT ${choice} ${ofAccount}`, [accountId]);
  const rows = await queries.all<CompanionChoice & { metadata: string }>(
    `SELECT ${choice}, metadata ${ofAccount} AND ${mayHave}`,
    [accountId, textsOfSubject(subject.metadata)],
  );
  const found = rows.filter(({ metadata }) => hasSubject(parseMetadata(metadata), subject.metadata));
  const choices = found.map(({ model, hasVoice }) => ({ model, hasVoice }));
  return [...new Map(choices.map((one) => [JSON.stringify(one), one])).values()];
}
