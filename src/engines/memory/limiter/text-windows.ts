/** Sliding windows for subjects of any text (tokens, keys, accounts), with any limit and length. */
import type { RateRule, Verdict } from "../../../contracts/limiter/limiter.ts";
import { type RecencyLinks, RecencyList } from "../../../lib/recency-list.ts";

/** Times of admitted requests, in a ring that grows up to the limit. */
interface Window extends RecencyLinks<Window> {
  readonly subject: string;
  times: Float64Array;
  /** Index of the oldest time. */
  first: number;
  count: number;
}

export class TextWindows {
  evictedCount = 0;
  readonly #rule: RateRule;
  readonly #maxSubjects: number;
  readonly #windows = new Map<string, Window>();
  readonly #recency = new RecencyList<Window>();

  constructor(rule: RateRule, maxSubjects: number) {
    this.#rule = rule;
    this.#maxSubjects = maxSubjects;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** While fewer than `maxSlots` slots are in use; 0 adds no subject. `nowMs`: whole milliseconds that never go back. */
  admit(subject: string, nowMs: number, maxSlots: number): Verdict {
    const rule = this.#rule;
    const window = this.#find(subject, nowMs) ?? (maxSlots > 0 ? this.#addSubject(subject) : null);
    const isAdmitted = window !== null && window.count < maxSlots;
    if (isAdmitted) note(window, nowMs, rule.limit);
    const count = window?.count ?? 0;
    const oldestMs = window === null || count === 0 ? nowMs : oldestOf(window);
    return { isAdmitted, rule, remaining: rule.limit - count, resetMs: oldestMs + rule.windowMs - nowMs };
  }

  /** The subject's window without expired times, marked as the most recently seen. */
  #find(subject: string, nowMs: number): Window | null {
    this.#forgetExpired(nowMs);
    const window = this.#windows.get(subject);
    if (window === undefined) return null;
    this.#recency.touch(window);
    const expiredMs = nowMs - this.#rule.windowMs;
    while (window.count > 0 && oldestOf(window) <= expiredMs) {
      window.first = (window.first + 1) % window.times.length;
      window.count--;
    }
    return window;
  }

  #forgetExpired(nowMs: number): void {
    for (let i = 0; i < 16; i++) {
      const { oldest } = this.#recency;
      if (oldest === null || newestOf(oldest) > nowMs - this.#rule.windowMs) return;
      this.#remove(oldest);
    }
  }

  #addSubject(subject: string): Window {
    const { oldest } = this.#recency;
    if (oldest !== null && this.#windows.size >= this.#maxSubjects) {
      this.#remove(oldest);
      this.evictedCount++;
    }
    const times = new Float64Array(Math.min(4, this.#rule.limit));
    const window: Window = { subject, times, first: 0, count: 0, newer: null, older: null };
    this.#windows.set(subject, window);
    this.#recency.add(window);
    return window;
  }

  #remove(window: Window): void {
    this.#windows.delete(window.subject);
    this.#recency.remove(window);
  }
}

function oldestOf(window: Window): number {
  return window.times[window.first] ?? 0;
}

function newestOf(window: Window): number {
  return window.times[(window.first + window.count - 1) % window.times.length] ?? 0;
}

function note(window: Window, nowMs: number, limit: number): void {
  const { times, first, count } = window;
  if (count === times.length) {
    const grown = new Float64Array(Math.min(times.length * 2, limit));
    grown.set(times.subarray(first));
    grown.set(times.subarray(0, first), times.length - first);
    window.times = grown;
    window.first = 0;
  }
  window.times[(window.first + count) % window.times.length] = nowMs;
  window.count++;
}
