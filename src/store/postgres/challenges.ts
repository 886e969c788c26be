/** Spent challenges in PostgreSQL. */
import type { ChallengeStore } from "../contract/challenges.ts";
import type { PostgresEngine } from "./engine.ts";

const insert = `INSERT INTO spent_challenges (signature, use, expires_at) VALUES ($1, $2, $3)
  ON CONFLICT (signature) DO NOTHING`;
const selectUse = "SELECT use FROM spent_challenges WHERE signature = $1";
const deleteExpired = `DELETE FROM spent_challenges WHERE signature IN
  (SELECT signature FROM spent_challenges WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

export function createChallengeStore(engine: PostgresEngine): ChallengeStore {
  return {
    spend: ({ signature, use, expiresAt }) =>
      engine.write(async (transaction) => {
        // Waits for another server that is about to spend it.
        if ((await transaction.run(insert, [signature, use ?? "", expiresAt])) > 0) return true;
        return use !== null && (await transaction.get<{ use: string }>(selectUse, [signature]))?.use === use;
      }),

    isUsedUp: async (signature) => (await engine.quick.get<{ use: string }>(selectUse, [signature]))?.use === "",

    purge: (nowMs, limit) => engine.writeHeavy((transaction) => transaction.run(deleteExpired, [nowMs, limit])),
  };
}
