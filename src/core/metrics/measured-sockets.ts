/** Wrappers of contracts that count the calls to the engine behind them. */
import type { Coordination } from "../../contracts/coordination.ts";
import type { Limiter, Verdict } from "../../contracts/limiter/limiter.ts";
import type { Store } from "../../contracts/store/store.ts";
import { codeOf } from "../../lib/error-code.ts";
import type { Histogram } from "../../lib/histogram.ts";
import type { Measurements, VerdictCounts } from "./measurements.ts";
import { type StoreCall, storeCalls } from "./store-calls.ts";

export function measureLimiter(limiter: Limiter, { verdicts }: Measurements): Limiter {
  function note(verdict: Verdict): Verdict {
    count(verdicts[verdict.rule.name], verdict.isAdmitted);
    return verdict;
  }
  return {
    admit: async (rule, subject) => note(await limiter.admit(rule, subject)),
    async admitUpTo(rule, subject, most) {
      const verdict = await limiter.admitUpTo(rule, subject, most);
      // A refusal decides nothing: another window may still take the request.
      return verdict.isAdmitted ? note(verdict) : verdict;
    },
    admitAll: async (windows) => note(await limiter.admitAll(windows)),
    async admitInTurn(windows, window) {
      const { first, second } = await limiter.admitInTurn(windows, window);
      return { first: note(first), second: second && note(second) };
    },
    isRemote: limiter.isRemote,
    close: () => limiter.close(),
  };
}

/** Counts verdicts of quotas; a full queue is none. */
export function measureCoordination(coordination: Coordination, { verdicts }: Measurements): Coordination {
  const { turns, voiceSessions } = coordination;
  return {
    ...coordination,
    turns: {
      async enter(entry, signal) {
        const verdict = await turns.enter(entry, signal);
        if (entry.messagesPerDay === null) return verdict;
        if (verdict.isAdmitted || isUsedUp(verdict)) count(verdicts.daily, verdict.isAdmitted);
        return verdict;
      },
      findElsewhere: (queueKey, messageId) => turns.findElsewhere(queueKey, messageId),
      get waitingCount() {
        return turns.waitingCount;
      },
    },
    voiceSessions: {
      async reserve(companionId, limit) {
        const verdict = await voiceSessions.reserve(companionId, limit);
        count(verdicts.daily_voice, verdict.isAdmitted);
        return verdict;
      },
    },
  };
}

export function measureStore(store: Store, measurements: Measurements): Store {
  const measured: Record<string, unknown> = { check: () => store.check(), close: () => store.close() };
  for (const [name, calls] of Object.entries(storeCalls)) {
    measured[name] = measureNoun(store[name as keyof typeof storeCalls], calls, measurements);
  }
  // Every member of every part of the store is in the table, or the table would not compile.
  return measured as unknown as Store;
}

type Member = (...parameters: unknown[]) => Promise<unknown>;

function measureNoun(noun: object, calls: Readonly<Record<string, StoreCall>>, measurements: Measurements): object {
  const seconds = { read: measurements.storeReadSeconds, write: measurements.storeWriteSeconds };
  const members = noun as Record<string, Member>;
  const measured: Record<string, Member> = {};
  for (const [name, call] of Object.entries(calls)) {
    const member = members[name]?.bind(noun);
    if (member === undefined) continue;
    measured[name] = measureCalls(member, seconds[call], measurements);
  }
  return measured;
}

function measureCalls(call: Member, seconds: Histogram, measurements: Measurements): Member {
  return async (...parameters) => {
    const startedMs = performance.now();
    try {
      return await call(...parameters);
    } catch (error) {
      if (codeOf(error) === "unavailable") measurements.storeFailures++;
      throw error;
    } finally {
      seconds.observe((performance.now() - startedMs) / 1000);
    }
  };
}

function isUsedUp({ reason }: { readonly reason: string }): boolean {
  return reason === "day_used_up" || reason === "visitor_day_used_up";
}

function count(counts: VerdictCounts, isAdmitted: boolean): void {
  if (isAdmitted) counts.admitted++;
  else counts.refused++;
}
