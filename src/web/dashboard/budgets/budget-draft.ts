/** A budget while it is edited: amounts and names as text, and what would be sent of it. */

import { changedFields } from "../lib/changed-fields.ts";
import { findPairsProblem, type MetadataPair, noPairs, toMetadata, toPairs } from "../lib/metadata-pairs.ts";
import { readMicros, writeDollars } from "../lib/money.ts";
import type { Budget } from "../lib/types.ts";

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

const words: Partial<Record<string, string>> = { limit_micros: "limit", period: "period", action: "what happens then" };

/** What differs between two versions of a budget, in words. */
export function findBudgetChanges(before: Budget, after: Budget): string[] {
  const changed = changedFields(toBudgetBody(toBudgetDraft(before)), toBudgetBody(toBudgetDraft(after)));
  return [...new Set(Object.keys(changed).map((field) => words[field] ?? "whose spending counts"))];
}

function subjectOf({ kind, companion_id, key_id, pairs }: BudgetDraft) {
  if (kind === "companion_id") return { companion_id };
  if (kind === "key_id") return { key_id };
  if (kind === "account") return { account: true };
  return { metadata: toMetadata(pairs) };
}
