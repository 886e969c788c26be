/** What a failure means for the visitor: the interface has a sentence by the same code, and another try may help. */
import type { Strings } from "./strings.ts";

export interface Problem {
  code: string;
  /** When another try can succeed, epoch milliseconds; 0 for at once. */
  retryAt: number;
}

export function toProblem(error: unknown): Problem {
  const { code, retryAfterMs } = Object(error);
  return { code, retryAt: code === "rate_limited" ? Date.now() + (retryAfterMs ?? 10_000) : 0 };
}

/** Whether trying again can help at all. */
export function canRetry(code: string): boolean {
  return !/^(origin|not_found|quota)/.test(code);
}

export function describe(code: string, strings: Strings): string {
  return (strings as Record<string, string>)[code] ?? strings.failed;
}
