/** Budgets: how much may be spent in a period, by whom, and what happens then. */
import { sha256Hex } from "../lib/sha256.ts";
import type { JsonObject } from "./json.ts";
import { listMetadataValues, type MetadataValue } from "./metadata.ts";
import { type Cost, picosPerMicro } from "./money.ts";

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

/** A budget with what it has seen in the period of the moment at which it was read. */
export interface BudgetState extends Budget {
  spent: Cost;
  /** What calls under way may cost at most. */
  reservedMicros: number;
  /** When what is spent reached the limit in this period, or left too little for a call; null before. */
  reachedAt: number | null;
}

/** What calls may do at a moment, and which events it stores: nearly always all false, and then nothing more is asked. */
export interface SpendingState {
  /** Whether the operator has stopped the account, or everyone. */
  readonly isStopped: boolean;
  readonly hasBudgets: boolean;
  /** Whether the account has an enabled webhook. */
  readonly hasWebhooks: boolean;
}

/** At most this many budgets of an account. */
export const maxBudgets = 10_000;

/** Longer facts are compared as digests. */
const maxFact = 200;

/** What is true of a call, of all that budgets may ask for. A budget counts the call if all its own facts are among them. */
export function spendingFactsOf(call: {
  readonly companionId: string;
  /** Null for the dashboard. */
  readonly keyId: string | null;
  readonly metadata: JsonObject;
}): string[] {
  const key = call.keyId === null ? [] : [`key:${call.keyId}`];
  return ["account", ...key, `companion:${call.companionId}`, ...listMetadataValues(call.metadata).map(factOf)];
}

/** What a call must be, all of it, to count. */
export function factsOfSubject(subject: BudgetSubject): string[] {
  if ("keyId" in subject) return [`key:${subject.keyId}`];
  if ("companionId" in subject) return [`companion:${subject.companionId}`];
  if ("metadata" in subject) return listSubjectValues(subject.metadata).map(factOf).sort();
  return ["account"];
}

/** Names are paths as in filters; a name with dots is not split. */
export function listSubjectValues(metadata: JsonObject): MetadataValue[] {
  return Object.entries(metadata).map(([path, value]) => {
    return { path, value: typeof value === "string" ? value : JSON.stringify(value) };
  });
}

function factOf({ path, value }: MetadataValue): string {
  const text = JSON.stringify([path, value]);
  return text.length > maxFact ? `digest:${sha256Hex(text)}` : `metadata:${text}`;
}

/** The UTC day on which the period of a day begins. */
export function startDayOf(period: BudgetPeriod, day: string): string {
  return period === "day" ? day : `${day.slice(0, "YYYY-MM".length)}-01`;
}

/** When the period of a day ends: epoch milliseconds. */
export function endOfPeriodMs(period: BudgetPeriod, day: string): number {
  const end = new Date(`${startDayOf(period, day)}T00:00:00.000Z`);
  if (period === "day") end.setUTCDate(end.getUTCDate() + 1);
  else end.setUTCMonth(end.getUTCMonth() + 1);
  return end.getTime();
}

export function isReached({ micros, picos }: Cost, limitMicros: number): boolean {
  return micros + Math.floor(picos / picosPerMicro) >= limitMicros;
}
