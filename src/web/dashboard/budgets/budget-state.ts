/** How far a budget is used up, in numbers and in words. */
import { countOf } from "../lib/format.ts";
import { formatExactMoney, formatMoney } from "../lib/money.ts";
import type { Budget } from "../lib/types.ts";

const nearShare = 0.8;

/** `reached`: nothing is left, or a call was refused for it; `near`: over four fifths. */
export type BudgetLevel = "calm" | "near" | "reached";

export function levelOf({ spent_micros: spent, limit_micros: limit, reached_at }: Budget): BudgetLevel {
  if (reached_at !== null || spent >= limit) return "reached";
  return spent >= limit * nearShare ? "near" : "calm";
}

/** Whole per cent, rounded down: 100 means that it is all gone. */
export function percentOf({ spent_micros: spent, limit_micros: limit }: Budget): number {
  return limit === 0 ? 100 : Math.floor((spent / limit) * 100);
}

export function leftOf(budget: Budget): number {
  return Math.max(0, budget.limit_micros - budget.spent_micros - budget.reserved_micros);
}

/** "$3.20 of $10.00 this month". */
export function describeUse({ spent_micros, limit_micros, period }: Budget): string {
  return `${formatMoney(spent_micros)} of ${formatExactMoney(limit_micros)} ${period === "day" ? "today" : "this month"}`;
}

/** The alarming ones, the worst first. */
export function pickAlarming(budgets: readonly Budget[]): Budget[] {
  const rank = { reached: 0, near: 1, calm: 2 };
  return budgets.filter((budget) => levelOf(budget) !== "calm").toSorted((a, b) => rank[levelOf(a)] - rank[levelOf(b)]);
}

/** "2 budgets reached, 1 nearly used up"; empty if there is nothing to report. */
export function describeAlarms(budgets: readonly Budget[]): string {
  const reached = budgets.filter((budget) => levelOf(budget) === "reached").length;
  const near = budgets.filter((budget) => levelOf(budget) === "near").length;
  const parts = [
    reached > 0 && `${countOf(reached, "budget")} reached`,
    near > 0 && `${countOf(near, "budget")} nearly used up`,
  ];
  return parts.filter(Boolean).join(", ");
}
