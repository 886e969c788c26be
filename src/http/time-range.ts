/** `from` and `to` of lists: timestamps, or whole UTC days, both inclusive. */
import { Type as t } from "@sinclair/typebox";
import { dayMs, parseDay, parseInstant } from "../lib/instant.ts";
import type { QueryPart } from "./query.ts";

const problem = "Must be a day (2026-01-31) or an RFC 3339 instant (2026-01-31T09:30:00Z).";

interface TimeRange {
  /** Inclusive; null if open. */
  fromMs: number | null;
  /** Exclusive; null if open. */
  toMs: number | null;
}

export const rangeQuery: QueryPart<TimeRange> = {
  parameters: {
    from: () =>
      t.String({
        description: "Earliest creation, included: an RFC 3339 instant, or a UTC day.",
        examples: ["2026-01-01"],
      }),
    to: () =>
      t.String({
        description: "Latest creation, included: an RFC 3339 instant, or a UTC day to its end.",
        examples: ["2026-01-31"],
      }),
  },
  read(query) {
    const fromMs = query.value("from", (text) => parseDay(text) ?? parseInstant(text) ?? undefined, problem);
    const toMs = query.value("to", parseEnd, problem);
    if (fromMs !== null && toMs !== null && toMs <= fromMs) {
      query.value("to", () => undefined, "Must not be before `from`.");
    }
    return { fromMs, toMs };
  },
};

/** The first millisecond after what `to` includes. */
function parseEnd(text: string): number | undefined {
  const day = parseDay(text);
  if (day !== null) return day + dayMs;
  const instant = parseInstant(text);
  return instant === null ? undefined : instant + 1;
}
