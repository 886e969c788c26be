/** Asks for vectors on behalf of a companion: within what its account may spend, and counted in its usage. */
import type { EmbeddingCalls, EmbeddingProvider } from "../../../contracts/llm/embeddings.ts";
import { spendingFactsOf } from "../../../domain/budget.ts";
import type { Companion } from "../../../domain/companion.ts";
import { type Cost, ceilToMicros, noCost } from "../../../domain/money.ts";
import { costOfTokens } from "../../../domain/prices.ts";
import { type Answerer, noTokens } from "../../../domain/usage.ts";
import { toUtcDay } from "../../../lib/clock.ts";
import type { Services } from "../../dependencies.ts";
import { noteReached, releaseSpending } from "../../turns/spending.ts";

export interface EmbedderParts extends Pick<Services, "store" | "clock" | "ids" | "log" | "measurements"> {
  readonly provider: EmbeddingProvider;
  readonly prices: Services["settings"]["prices"];
}

export interface CountedEmbedder {
  readonly model: string;
  /** As the provider's: read before each call. */
  readonly maxTexts: number;
  /**
   * As the provider's. Null, without a request, while the operator has stopped the account's spending, or where a budget
   * would be exceeded: there is nothing wrong with that, and it may be different the next day.
   */
  embed(
    companion: Pick<Companion, "id" | "accountId" | "createdByKeyId" | "metadata">,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly Float32Array[] | null>;
}

/** What is reserved is settled at its worst case after this; no call takes as long. */
const dueMs = 20 * 60_000;
/** What a provider may add to each text, in tokens. */
const framingTokens = 16;

export function createCountedEmbedder(parts: EmbedderParts): CountedEmbedder {
  const { provider, prices, store, clock, ids, log } = parts;
  const { spending, turns } = store;
  const answeredBy: Answerer = { provider: provider.name, model: provider.model };

  function costOf(inputTokens: number): Cost | null {
    const price = prices.findTokenPrice(answeredBy);
    return price && costOfTokens(price, { ...noTokens, inputTokens });
  }

  return {
    model: provider.model,
    get maxTexts() {
      return provider.maxTexts;
    },
    async embed({ id: companionId, accountId, createdByKeyId: keyId, metadata }, texts, signal) {
      const origin = { accountId, companionId, keyId, day: toUtcDay(clock.nowMs()) };
      const facts = spendingFactsOf({ companionId, keyId, metadata });
      // A token has at least one byte.
      const maxTokens = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + framingTokens, 0);

      /** False: it must not be spent. Otherwise what is reserved, null where nothing is. */
      async function admit(): Promise<string | null | false> {
        if ((await spending.findStop(accountId)) !== null) return false;
        if ((await spending.listMatching(accountId, facts)).length === 0) return null;
        const nowMs = clock.nowMs();
        const most = costOf(maxTokens);
        const asked = { ...origin, id: ids.uuid(), ticketId: null, facts, answerer: answeredBy, isVoice: false };
        const micros = most && ceilToMicros(most);
        const verdict = await spending.reserve({ ...asked, micros, nowMs, dueAtMs: nowMs + dueMs });
        if (verdict.isAdmitted) return verdict.isReserved ? asked.id : null;
        noteReached(parts, verdict.reached);
        return false;
      }

      /** The vectors are there and paid for, even if counting fails. */
      async function count(inputTokens: number): Promise<void> {
        const reservationId = held;
        held = null;
        const cost = costOf(inputTokens);
        const spend = cost === null && reservationId === null ? null : { facts, reservationId, atMs: clock.nowMs() };
        // Messages keep their price beside texts that have none.
        const counted = { usage: { ...noTokens, inputTokens }, answeredBy, cost: cost ?? noCost };
        try {
          noteReached(parts, await turns.recordCall({ ...origin, ...counted, spend }));
        } catch (error) {
          log.error("embedding not counted", { companionId, error });
        }
      }

      const admitted = await admit();
      if (admitted === false) return null;
      let held = admitted;
      let isUncounted = false;
      /** A call that came to nothing, and may be charged for. */
      async function countFailed(): Promise<void> {
        if (isUncounted) await count(maxTokens);
        isUncounted = false;
      }
      const calls: EmbeddingCalls = {
        noteUncounted() {
          isUncounted = true;
        },
        async permit() {
          await countFailed();
          if (held !== null) return (await spending.findStop(accountId)) === null;
          const again = await admit();
          if (again !== false) held = again;
          return again !== false;
        },
      };
      try {
        const embedded = await provider.embed(texts, signal, calls);
        // What is above that is no count, and would end the exactness of sums.
        await count(Math.min(embedded.tokens, maxTokens));
        return embedded.vectors;
      } catch (error) {
        await countFailed();
        if (held !== null) await releaseSpending(parts, held);
        throw error;
      }
    },
  };
}
