/**
 * A budget while it is edited: amounts and names as text, what would be sent of it, and whether it would stop
 * replies.
 */
import { changedFields } from "../lib/api.ts";
import { findPairsProblem, type MetadataPair, noPairs, toMetadata, toPairs } from "../lib/metadata-pairs.ts";
import { formatExactMoney, formatMoney, readMicros, writeDollars } from "../lib/money.ts";
import type { Budget, BudgetPreview } from "../lib/types.ts";

export type SubjectKind = "account" | "companion_id" | "key_id" | "metadata";

export interface BudgetDraft {
  kind: SubjectKind;
  companion_id: string;
  key_id: string;
  pairs: MetadataPair[];
  /** In dollars. */
  amount: string;
  period: Budget["period"];
  action: Budget["action"];
}

export function toBudgetDraft(budget: Budget | null): BudgetDraft {
  return {
    kind: budget?.metadata ? "metadata" : budget?.companion_id ? "companion_id" : budget?.key_id ? "key_id" : "account",
    companion_id: budget?.companion_id ?? "",
    key_id: budget?.key_id ?? "",
    pairs: budget?.metadata ? toPairs(budget.metadata) : [...noPairs],
    amount: budget ? writeDollars(budget.limit_micros) : "",
    period: budget?.period ?? "month",
    action: budget?.action ?? "stop",
  };
}

export type BudgetProblems = Partial<Record<SubjectKind | "limit_micros", string>>;

export function findBudgetProblems(draft: BudgetDraft): BudgetProblems {
  const problems: BudgetProblems = {};
  if (draft.kind === "companion_id" && draft.companion_id === "") problems.companion_id = "Choose a companion.";
  if (draft.kind === "key_id" && draft.key_id === "") problems.key_id = "Choose a key.";
  const metadata = draft.kind === "metadata" ? findPairsProblem(draft.pairs) : undefined;
  if (metadata !== undefined) problems.metadata = metadata;
  if (readMicros(draft.amount) === null) {
    problems.limit_micros = "Enter dollars like 50 or 12.50, with at most six decimals.";
  }
  return problems;
}

/** As the API takes it; only for drafts without problems. */
export function toBudgetBody(draft: BudgetDraft) {
  return {
    ...subjectOf(draft),
    limit_micros: readMicros(draft.amount),
    period: draft.period,
    action: draft.action,
  };
}

const words: Partial<Record<string, string>> = { limit_micros: "limit", period: "period", action: "what happens then" };

/** What differs between two versions of a budget, in words. */
export function findBudgetChanges(before: Budget, after: Budget): string[] {
  const changed = changedFields(toBudgetBody(toBudgetDraft(before)), toBudgetBody(toBudgetDraft(after)));
  return [...new Set(Object.keys(changed).map((field) => words[field] ?? "what it applies to"))];
}

function subjectOf({ kind, companion_id, key_id, pairs }: BudgetDraft) {
  if (kind === "companion_id") return { companion_id };
  if (kind === "key_id") return { key_id };
  if (kind === "account") return { account: true };
  return { metadata: toMetadata(pairs) };
}

/** What to preview; null where replies go on, or it is not known yet whose. */
export function previewBody(draft: BudgetDraft): object | null {
  const { limit_micros: _, ...problems } = findBudgetProblems(draft);
  if (draft.action !== "stop" || Object.keys(problems).length > 0) return null;
  const { limit_micros, action, ...subject } = toBudgetBody(draft);
  return subject;
}

/** A sentence; null where replies would go on. */
export function findStop(draft: BudgetDraft, preview: BudgetPreview | null): string | null {
  const limit = readMicros(draft.amount);
  if (draft.action !== "stop" || limit === null) return null;
  const { spent_micros: spent, reply_micros: reply } = preview ?? { spent_micros: 0, reply_micros: null };
  const period = draft.period === "day" ? "today" : "this month";
  const stop = `once this is saved, visitors get no more replies until the next ${draft.period} begins (UTC)`;
  if (limit === 0 || spent >= limit) {
    const cause =
      limit === 0
        ? "A limit of nothing stops every reply"
        : `${formatMoney(spent)} was spent ${period} already, and the limit is ${formatExactMoney(limit)}`;
    return `${cause}: ${stop}. To let them go on, set a higher limit or only notify.`;
  }
  if (reply === null || limit - spent >= reply) return null;
  const held = `What a reply may cost is held before it is made: here at least ${formatMoney(reply)}`;
  const most = `set a limit well above ${formatExactMoney(spent + reply)} or only notify`;
  return `${held}, and this limit leaves ${formatMoney(limit - spent)} ${period}: ${stop}. To let them go on, ${most}.`;
}
