/** Adds to usage: by day, by month, and by day for the whole account. */
import type { FailureKind } from "../../domain/reply-failure.ts";
import type { UsageCounts } from "../../domain/usage.ts";
import type { SqliteEngine } from "./engine.ts";

export interface UsagePlace {
  accountId: string;
  /** Null for a key's own calls. */
  companionId: string | null;
  /** Null for the dashboard. */
  keyId: string | null;
  day: string;
}

export type UsageWriter = ReturnType<typeof createUsageWriter>;

type Counts = [messages: number, requests: number, input: number, output: number, voice: number, errors: number];

const counters = "messages, requests, input_tokens, output_tokens, voice_sessions, errors";
const addCounters = counters
  .split(", ")
  .map((name) => `${name} = ${name} + excluded.${name}`)
  .join(", ");

export function createUsageWriter(engine: SqliteEngine) {
  const addTo = (table: string, period: string) =>
    engine.query<null, [string, string, string, string, ...Counts]>(
      `INSERT INTO ${table} (account_id, companion_id, ${period}, key_id, ${counters})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${addCounters}`,
    );
  const addDay = addTo("usage_daily", "day");
  const addMonth = addTo("usage_monthly", "month");
  const addSum = engine.query<null, [string, string, string, ...Counts]>(
    `INSERT INTO usage_account_daily (account_id, day, key_id, ${counters})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET ${addCounters}`,
  );

  const addFailed = engine.query<null, [string, string, string, string]>(
    `INSERT INTO failed_replies (account_id, day, companion_id, kind, replies) VALUES (?, ?, ?, ?, 1)
     ON CONFLICT DO UPDATE SET replies = replies + 1`,
  );

  return {
    /** Counts one under the companion and one under none, which is the account's sum. Call it inside a write. */
    addFailure({ accountId, companionId, day }: UsagePlace, kind: FailureKind): void {
      if (companionId !== null) addFailed.run(accountId, day, companionId, kind);
      addFailed.run(accountId, day, "", kind);
    },

    /** Call it inside a write. */
    add(place: UsagePlace, added: Partial<UsageCounts>): void {
      const { accountId, companionId, day } = place;
      const keyId = place.keyId ?? "";
      const { messages = 0, requests = 0, inputTokens = 0, outputTokens = 0, voiceSessions = 0, errors = 0 } = added;
      const counts: Counts = [messages, requests, inputTokens, outputTokens, voiceSessions, errors];
      addDay.run(accountId, companionId ?? "", day, keyId, ...counts);
      addMonth.run(accountId, companionId ?? "", day.slice(0, "YYYY-MM".length), keyId, ...counts);
      addSum.run(accountId, day, keyId, ...counts);
    },
  };
}
