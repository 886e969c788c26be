/** Who replied in a test, and what it cost: nothing, for tests that ask for something else. */
import type { SpendingState } from "../../src/domain/budget.ts";
import { noCost } from "../../src/domain/money.ts";
import { noTokens, type UsageCounts } from "../../src/domain/usage.ts";

export const answeredBy = { provider: "default", model: "gpt-test" } as const;

export const answered = { answeredBy, cost: noCost, spend: null } as const;

/** Of a turn that failed without an answer of any kind. */
export const unanswered = {
  ...{ isCounted: false, answeredBy: null, cost: noCost, spend: null },
  usage: { ...noTokens, estimated: true },
} as const;

export const freeToSpend: SpendingState = { isStopped: false, hasBudgets: false, hasWebhooks: false };

export const noUsage: UsageCounts = {
  messages: 0,
  requests: 0,
  inputTokens: 0,
  outputTokens: 0,
  voiceSessions: 0,
  errors: 0,
  cachedTokens: 0,
  costMicros: 0,
  costPicos: 0,
  unpriced: 0,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
};

/** The data of an outcome besides how it ended. */
export const outcomeFacts = { usage: null, answeredBy, finishReason: null } as const;
