/** Usage: what is counted per UTC day, companion, key, recorded metadata, model and provider. */
import type { Cost } from "./money.ts";

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** Those of the input that the provider had in its cache; 0 where it does not say. */
  cachedTokens: number;
  /** True if the provider sent no counts and these are estimates: UTF-8 bytes / 4. */
  estimated: boolean;
}

/** Who replied: one of the operator's providers, by its name here, and the model as that provider calls it. */
export interface Answerer {
  readonly provider: string;
  readonly model: string;
}

export interface UsageCounts {
  messages: number;
  /** The key's own management calls. */
  requests: number;
  inputTokens: number;
  outputTokens: number;
  voiceSessions: number;
  /** Replies that failed or stayed incomplete because of the provider. */
  errors: number;
  cachedTokens: number;
  /** Of the messages that have a price; see `Cost`. */
  costMicros: number;
  costPicos: number;
  /** Messages and voice sessions without a price: while there is one, nobody knows what the rest costs in all. */
  unpriced: number;
}

/** What one message adds to the counts; null for a model without a price. */
export function costCounts(cost: Cost | null): Pick<UsageCounts, "costMicros" | "costPicos" | "unpriced"> {
  return cost === null
    ? { costMicros: 0, costPicos: 0, unpriced: 1 }
    : { costMicros: cost.micros, costPicos: cost.picos, unpriced: 0 };
}
