/** Makes the results of checks. */
import type { Finding } from "../../domain/finding.ts";

export type { Finding };

export function ok(name: string, detail: string): Finding {
  return { name, status: "ok", detail, advice: null };
}

/** Of what is not set up: nothing is wrong, and nothing works either. */
export function off(name: string, detail: string): Finding {
  return { ...ok(name, detail), is_off: true };
}

export function warn(name: string, detail: string, advice: string): Finding {
  return { name, status: "warn", detail, advice };
}

export function fail(name: string, detail: string, advice: string): Finding {
  return { name, status: "fail", detail, advice };
}

/** How long an answer took, rounded up: `within 0.1 ms`. */
export function within(ms: number): string {
  return `within ${(Math.ceil(ms * 10) / 10).toFixed(1)} ms`;
}

export function describeFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return (error instanceof Error ? error.message : String(error)).replace(/[.:]+$/, "") + cause;
}
