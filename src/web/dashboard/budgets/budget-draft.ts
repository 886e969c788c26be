/** A budget while it is edited: amounts and names as text, and what would be sent of it. */
import { readMicros, writeDollars } from "../lib/money.ts";
import type { Budget } from "../lib/types.ts";

export type SubjectKind = "account" | "companion_id" | "key_id" | "metadata";

export interface MetadataPair {
  field: string;
  value: string;
}

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

export const mostPairs = 5;

export function toBudgetDraft(budget: Budget | null): BudgetDraft {
  const metadata = Object.entries(budget?.metadata ?? {});
  return {
    kind: budget?.metadata ? "metadata" : budget?.companion_id ? "companion_id" : budget?.key_id ? "key_id" : "account",
    companion_id: budget?.companion_id ?? "",
    key_id: budget?.key_id ?? "",
    pairs:
      metadata.length === 0
        ? [{ field: "", value: "" }]
        : metadata.map(([field, value]) => ({
            field,
            value: typeof value === "string" ? value : JSON.stringify(value),
          })),
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
  if (draft.kind === "metadata") {
    const fields = draft.pairs.map(({ field }) => field.trim());
    if (fields.includes("")) problems.metadata = "A field has no name.";
    else if (new Set(fields).size < fields.length) problems.metadata = "A field is there twice.";
  }
  if (readMicros(draft.amount) === null) {
    problems.limit_micros = "Write dollars like 50 or 12.50, with a point and at most six digits after it.";
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

function subjectOf({ kind, companion_id, key_id, pairs }: BudgetDraft) {
  if (kind === "companion_id") return { companion_id };
  if (kind === "key_id") return { key_id };
  if (kind === "account") return { account: true };
  // Compared as text, so that "42" finds the number as well.
  return { metadata: Object.fromEntries(pairs.map(({ field, value }) => [field.trim(), value])) };
}
