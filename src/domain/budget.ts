/** Budgets: how much may be spent in a period, by whom, and what happens then. */
import type { JsonObject } from "./json.ts";

export const budgetPeriods = ["day", "month"] as const;
/** UTC. */
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetActions = ["stop", "notify"] as const;
export type BudgetAction = (typeof budgetActions)[number];

/** Whose spending counts: exactly one of these. */
export type BudgetSubject =
  | { readonly account: true }
  | { readonly keyId: string }
  | { readonly companionId: string }
  | { readonly metadata: JsonObject };

export interface Budget {
  id: string;
  subject: BudgetSubject;
  /** Millionths of a US dollar. */
  limitMicros: number;
  period: BudgetPeriod;
  action: BudgetAction;
  createdAt: number;
  updatedAt: number;
}
