/** Embeds texts for a companion, within what its account may spend, and counts their tokens in usage. */
import { spendingFactsOf } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import { plainProviderName } from "../../domain/model-routes.ts";
import { ceilToMicros } from "../../domain/money.ts";
import { costOfTokens, type Prices } from "../../domain/prices.ts";
import type { Answerer } from "../../domain/usage.ts";
import { toUtcDay } from "../../lib/clock.ts";
import type { EmbeddingProvider } from "../../llm/embeddings.ts";
import {
  admitSpending,
  type CallBound,
  noteReached,
  releaseSpending,
  type SpendingServices,
} from "../../turns/spending.ts";

export interface PaidEmbedding {
  readonly model: string;
  /**
   * One vector for each text. Rejects with `unavailable` or `budget_exceeded` where the account may not spend more, with
   * `not_found` if the companion is gone, as `EmbeddingProvider.embed`, or with the signal's reason.
   */
  embed(
    companion: Pick<Companion, "accountId" | "id">,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[]>;
}

type EmbeddingServices = SpendingServices & { prices: Prices };

export function createPaidEmbedding(services: EmbeddingServices, provider: EmbeddingProvider): PaidEmbedding {
  const { store, clock, prices } = services;
  const answeredBy: Answerer = { provider: plainProviderName, model: provider.model };

  return {
    model: provider.model,
    async embed({ accountId, id }, texts, signal) {
      const [companion, spending] = await Promise.all([
        store.companions.find(accountId, id),
        store.companions.checkOwned(accountId, id),
      ]);
      if (companion === null || spending === null) throw new AppError("not_found", "No such companion.");
      const keyId = companion.createdByKeyId;
      const day = toUtcDay(clock.nowMs());
      const call = { companion, keyId, day, ticketId: null, isVoice: false, requestId: null };
      const isAsked = spending.isStopped || spending.hasBudgets;
      const bound = () => boundOf(prices, answeredBy, texts);
      const reservationId = isAsked ? await admitSpending(services, call, spending, bound) : null;
      try {
        const { vectors, tokens } = await provider.embed(texts, signal);
        const usage = { inputTokens: tokens, cachedTokens: 0, outputTokens: 0 };
        const price = prices.findTokenPrice(answeredBy);
        const cost = price === null ? null : costOfTokens(price, usage);
        const facts = spendingFactsOf({ companionId: id, keyId, metadata: companion.metadata });
        const spend = cost === null && reservationId === null ? null : { facts, reservationId, atMs: clock.nowMs() };
        const counted = { accountId, companionId: id, keyId, day, inputTokens: tokens, answeredBy, cost, spend };
        noteReached(services, await store.turns.recordEmbedding(counted));
        return vectors;
      } catch (error) {
        if (reservationId !== null) await releaseSpending(services, reservationId);
        throw error;
      }
    },
  };
}

/** A token has at least one byte. */
function boundOf(prices: Prices, answerer: Answerer, texts: readonly string[]): CallBound {
  const price = prices.findTokenPrice(answerer);
  let inputTokens = 0;
  for (const text of texts) inputTokens += Buffer.byteLength(text, "utf8");
  const cost = price === null ? null : costOfTokens(price, { inputTokens, cachedTokens: 0, outputTokens: 0 });
  return { answerer, micros: cost === null ? null : ceilToMicros(cost) };
}
