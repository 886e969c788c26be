/** Whether a budget would stop replies the moment it is saved: what was spent since its period began counts, too. */
import type { Query } from "../lib/api.ts";
import { formatExactMoney, formatMoney, readMicros } from "../lib/money.ts";
import type { ApiKey, Budget, UsageRow } from "../lib/types.ts";
import { type BudgetDraft, findBudgetProblems, toBudgetBody, toBudgetDraft } from "./budget-draft.ts";

/** Which usage is to be asked; null where the budget itself tells, or nothing is known yet. */
export function spendingQuery(draft: BudgetDraft, budget: Budget | null, nowMs: number): Query | null {
  const { limit_micros: _, ...problems } = findBudgetProblems(draft);
  if (draft.action !== "stop" || Object.keys(problems).length > 0 || tellsSpent(draft, budget)) return null;
  const today = new Date(nowMs).toISOString().slice(0, "YYYY-MM-DD".length);
  const metadata = draft.kind === "metadata" ? draft.pairs : [];
  return {
    from: draft.period === "day" ? today : `${today.slice(0, "YYYY-MM".length)}-01`,
    to: today,
    // Of a row with a model that has no price, nobody knows the cost.
    group_by: draft.kind === "key_id" ? "key,model" : "model",
    companion_id: draft.kind === "companion_id" ? draft.companion_id : null,
    ...Object.fromEntries(metadata.map(({ field, value }) => [`metadata.${field.trim()}`, value])),
  };
}

/** In micro-dollars; null while it is unknown. */
export function readSpent(
  draft: BudgetDraft,
  budget: Budget | null,
  rows: readonly UsageRow[] | null,
  keys: readonly ApiKey[] = [],
): number | null {
  if (budget !== null && tellsSpent(draft, budget)) return budget.spent_micros;
  const counted = new Set(draft.kind === "key_id" ? listCounted(keys, draft.key_id) : []);
  const own = rows?.filter(({ key_id }) => draft.kind !== "key_id" || (key_id && counted.has(key_id)));
  return own?.reduce((sum, row) => sum + (row.cost_micros ?? 0), 0) ?? null;
}

/** The keys whose calls a budget on this one counts: what it made, and what took its place. Revoked ones are not known. */
function listCounted(keys: readonly ApiKey[], keyId: string): string[] {
  const counted = new Set([keyId]);
  // The set grows during the loop.
  for (const id of counted) {
    for (const key of keys) if (key.created_by_key_id === id || key.replaced_by_key_id === id) counted.add(key.id);
  }
  return [...counted];
}

/** A sentence; null where replies would go on. */
export function findStop(draft: BudgetDraft, spent: number | null): string | null {
  const limit = readMicros(draft.amount);
  if (draft.action !== "stop" || limit === null || (spent ?? 0) < limit) return null;
  const period = draft.period === "day" ? "today" : "this month";
  const cause =
    limit === 0
      ? "A limit of nothing stops every reply"
      : `${formatMoney(spent ?? 0)} was spent ${period} already, and the limit is ${formatExactMoney(limit)}`;
  return `${cause}: once this is saved, visitors get no more replies until the next ${draft.period} begins (UTC). To let them go on, set a higher limit or only notify.`;
}

function tellsSpent(draft: BudgetDraft, budget: Budget | null): boolean {
  if (budget === null) return false;
  const subjectOf = (of: BudgetDraft) => JSON.stringify({ ...toBudgetBody(of), limit_micros: null, action: null });
  return subjectOf(draft) === subjectOf(toBudgetDraft(budget));
}
