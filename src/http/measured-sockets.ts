/** Sockets that count what passes through them, whichever engine is behind. */
import type { DailyQuota } from "../limits/daily-quota.ts";
import type { Limiter, Verdict } from "../limits/limiter.ts";
import type { Store } from "../store/store.ts";
import type { Measurements, VerdictCounts } from "./measurements.ts";

export function measureLimiter(limiter: Limiter, { verdicts }: Measurements): Limiter {
  function note(verdict: Verdict): Verdict {
    count(verdicts[verdict.rule.name], verdict.isAdmitted);
    return verdict;
  }
  return {
    admit(rule, subject) {
      const verdict = limiter.admit(rule, subject);
      return verdict instanceof Promise ? verdict.then(note) : note(verdict);
    },
    get evictedCount() {
      return limiter.evictedCount;
    },
    get size() {
      return limiter.size;
    },
    close: () => limiter.close(),
  };
}

export function measureQuota(quota: DailyQuota, { verdicts }: Measurements): DailyQuota {
  return {
    async reserve(companionId, limit, nowMs) {
      const verdict = await quota.reserve(companionId, limit, nowMs);
      count(verdicts.daily, verdict.isAdmitted);
      return verdict;
    },
    get size() {
      return quota.size;
    },
  };
}

export function measureStore(store: Store, measurements: Measurements): Store {
  const measured: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(store) as [string, unknown][]) {
    const isNoun = typeof part === "object" && part !== null;
    measured[name] = isNoun ? measureNoun(part, measurements) : part;
  }
  // Every member was taken over from a store, under its own name.
  return measured as unknown as Store;
}

const reading = /^(find|get|list|count|check)/;

function measureNoun(noun: object, measurements: Measurements): object {
  const measured: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(noun) as [string, unknown][]) {
    measured[name] = member;
    if (typeof member !== "function") continue;
    const { storeReadSeconds, storeWriteSeconds } = measurements;
    const seconds = reading.test(name) ? storeReadSeconds : storeWriteSeconds;
    measured[name] = (...parameters: unknown[]): unknown => {
      const startedMs = performance.now();
      const outcome: unknown = Reflect.apply(member, noun, parameters);
      if (!(outcome instanceof Promise)) {
        seconds.observe((performance.now() - startedMs) / 1000);
        return outcome;
      }
      outcome.then(
        () => seconds.observe((performance.now() - startedMs) / 1000),
        (error: unknown) => {
          seconds.observe((performance.now() - startedMs) / 1000);
          if (isUnavailable(error)) measurements.storeFailures++;
        },
      );
      return outcome;
    };
  }
  return measured;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "unavailable";
}

function count(counts: VerdictCounts, isAdmitted: boolean): void {
  if (isAdmitted) counts.admitted++;
  else counts.refused++;
}
