/** Rules of budgets that hold in both databases. */
import type { MetadataFilter } from "../../../contracts/store/companions.ts";
import type { BudgetPatch, CompanionChoice } from "../../../contracts/store/spending.ts";
import {
  type BudgetPeriod,
  type BudgetSubject,
  endOfPeriodMs,
  factsOfSubject,
  listSubjectValues,
  startDayOf,
} from "../../../domain/budget.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { toUtcDay } from "../../../lib/clock.ts";
import { matchesMetadata } from "./metadata-blocks.ts";

/** What a budget has seen in a period, as it is stored. */
export interface PeriodRow {
  spentMicros: number;
  spentPicos: number;
  reservedMicros: number;
  reachedAt: number | null;
}

export function countsCall(budgetFacts: readonly string[], callFacts: ReadonlySet<string>): boolean {
  return budgetFacts.every((fact) => callFacts.has(fact));
}

/** The days that the period of a moment has: `fromDay` <= day < `toDay`. */
export function daysOfPeriod(period: BudgetPeriod, nowMs: number): { fromDay: string; toDay: string } {
  const day = toUtcDay(nowMs);
  return { fromDay: startDayOf(period, day), toDay: toUtcDay(endOfPeriodMs(period, day)) };
}

/** Of these periods the one that ends last; null for none. */
export function latestPeriod(periods: readonly BudgetPeriod[]): BudgetPeriod | null {
  return periods.includes("month") ? "month" : (periods[0] ?? null);
}

/** Whether a change makes the budget count again from the start. */
export function restartsCount({ subject, period }: BudgetPatch): boolean {
  return subject !== undefined || period !== undefined;
}

/** Adds what further companions have; by what distinguishes choices. */
export function addChoices(choices: Map<string, CompanionChoice>, more: Iterable<CompanionChoice>): void {
  for (const one of more) {
    const key = JSON.stringify([one.model, one.reasoningEffort, one.hasVoice]);
    const known = choices.get(key) ?? one;
    const bounds = [known.maxOutputTokens, one.maxOutputTokens].filter((bound) => bound !== null);
    choices.set(key, {
      ...known,
      maxOutputTokens: bounds.length === 0 ? null : Math.min(...bounds),
      promptBytes: Math.min(known.promptBytes, one.promptBytes),
    });
  }
}

/** A text that comes before all ids of a list in this order. */
export const beforeAll = { asc: "", desc: "~" } as const;

/** The columns that a budget's subject fills; JSON is text. */
export function toSubjectColumns(subject: BudgetSubject): { subject: string; facts: string; fact: string } {
  const facts = factsOfSubject(subject);
  return { subject: JSON.stringify(subject), facts: JSON.stringify(facts), fact: facts[0] ?? "" };
}

/** The metadata that calls have, or usage was recorded under, if they are the subject's. */
export function filtersOfSubject(metadata: JsonObject): MetadataFilter[] {
  return listSubjectValues(metadata);
}

/**
 * What the JSON text of metadata contains, of each value, if a subject's values are in it: what does not need not be
 * parsed.
 */
export function textsOfSubject(metadata: JsonObject): string[] {
  return listSubjectValues(metadata).map(({ value }) => JSON.stringify(value).slice(1, -1));
}

/** As the facts decide, at half the cost: there may be a hundred thousand. */
export function hasSubject(metadata: JsonObject, subject: JsonObject): boolean {
  return matchesMetadata(metadata, listSubjectValues(subject));
}
