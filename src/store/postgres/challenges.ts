/** Spent challenges in PostgreSQL. */
import type { ChallengeStore } from "../contract/challenges.ts";
import type { PostgresEngine } from "./engine.ts";

const insert = `INSERT INTO spent_challenges (signature, use, repeats_left, expires_at)
  VALUES ($1, $2, $3, $4) ON CONFLICT (signature) DO NOTHING`;
const repeat = `UPDATE spent_challenges SET repeats_left = repeats_left - 1
  WHERE signature = $1 AND use = $2 AND repeats_left > 0`;
const selectUse = "SELECT use FROM spent_challenges WHERE signature = $1";
const deleteExpired = `DELETE FROM spent_challenges WHERE signature IN
  (SELECT signature FROM spent_challenges WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

export function createChallengeStore(engine: PostgresEngine): ChallengeStore {
  return {
    spend: ({ signature, use, expiresAt }) =>
      engine.write(async (transaction) => {
        // Waits for another server that is about to spend it.
        const begun = [signature, use?.name ?? "", use?.repeats ?? 0, expiresAt];
        if ((await transaction.run(insert, begun)) > 0) return true;
        return use !== null && (await transaction.run(repeat, [signature, use.name])) > 0;
      }),

    isUsedUp: async (signature) => (await engine.quick.get<{ use: string }>(selectUse, [signature]))?.use === "",

    purge: (nowMs, limit) => engine.writeHeavy((transaction) => transaction.run(deleteExpired, [nowMs, limit])),
  };
}
