/** Usage: what is counted per UTC day, companion, key, recorded metadata, model and provider. */
import { toUtcDay } from "../lib/clock.ts";
import { type Cost, noCost } from "./money.ts";

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** Those of the input that the provider had in its cache; 0 where it does not report them. */
  cachedTokens: number;
  /** Those of the input that were written into the cache, which some charge more for; 0 where it does not report them. */
  cacheWriteTokens: number;
  /** Those of the output that no visitor sees: the model thought them. 0 where the provider does not report them. */
  reasoningTokens: number;
  /** True if the provider sent no counts and these are estimates: UTF-8 bytes / 4. */
  estimated: boolean;
}

/**
 * How often a companion's metadata is recorded again in a day: changes with every message would make what can be
 * summed and exported grow without end. Beyond, what was recorded last stands for the rest of the day.
 */
export const labelsPerDay = 1_000;

/** Who replied: one of the operator's providers, by its name here, and the model as that provider calls it. */
export interface Answerer {
  readonly provider: string;
  readonly model: string;
}

/** What a provider counted of one call. */
export type CountedTokens = Omit<TokenUsage, "estimated">;

export const noTokens: CountedTokens = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** A call that a provider may charge for, no matter how it ended. */
export interface ChargedCall {
  readonly answeredBy: Answerer;
  /** What the provider counted; null if it was left, broke or was refused before that. Nothing if no provider was asked. */
  readonly usage: CountedTokens | null;
  /** UTF-8 bytes of streamed thoughts, which no one sees: part of the estimate where `usage` is null. None unless given. */
  readonly reasoningBytes?: number;
  /** UTF-8 bytes of the tools' names and arguments that were streamed: as `reasoningBytes`. */
  readonly callBytes?: number;
  /** The bound that was sent, with the room for thinking; the request's own unless given. */
  readonly sentOutputTokens?: number;
}

/** What several calls came to together. */
export interface CallTotals {
  readonly usage: TokenUsage;
  /** Null while one of them is of a model without a price. */
  readonly cost: Cost | null;
}

export const noCalls: CallTotals = { usage: { ...noTokens, estimated: false }, cost: noCost };

export function addCalls({ usage: a, cost }: CallTotals, { usage: b, cost: more }: CallTotals): CallTotals {
  return {
    usage: {
      inputTokens: a.inputTokens + b.inputTokens,
      outputTokens: a.outputTokens + b.outputTokens,
      cachedTokens: a.cachedTokens + b.cachedTokens,
      cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
      reasoningTokens: a.reasoningTokens + b.reasoningTokens,
      estimated: a.estimated || b.estimated,
    },
    cost: cost && more && { micros: cost.micros + more.micros, picos: cost.picos + more.picos },
  };
}

export interface UsageCounts extends CountedTokens {
  messages: number;
  /** The key's own management calls. */
  requests: number;
  voiceSessions: number;
  /** Replies that failed or stayed incomplete because of the provider. */
  errors: number;
  /** Of the messages that have a price; see `Cost`. */
  costMicros: number;
  costPicos: number;
  /** Messages and voice sessions without a price: while there is one, the total cost is unknown. */
  unpriced: number;
}

/** What one message adds to the counts; null for a model without a price. */
export function costCounts(cost: Cost | null): Pick<UsageCounts, "costMicros" | "costPicos" | "unpriced"> {
  return cost === null
    ? { costMicros: 0, costPicos: 0, unpriced: 1 }
    : { costMicros: cost.micros, costPicos: cost.picos, unpriced: 0 };
}

/** Turns count for the day on which they began, and end within twelve minutes. */
const closesAfterMs = 14 * 60_000;
/** A commit may take a moment. */
const overAfterMs = closesAfterMs + 60_000;

/**
 * The day under which something counts that became known later than it was used, such as the cost of a voice session:
 * its own, or, once that is over, the first that is not. Days that are over never change: they may have been billed.
 */
export function openDayOf(day: string, nowMs: number): string {
  const open = toUtcDay(nowMs - closesAfterMs);
  return day < open ? open : day;
}

/** The first day that is not over; nothing is added to earlier ones. */
export function firstOpenDay(nowMs: number): string {
  return toUtcDay(nowMs - overAfterMs);
}
