/** Spent challenges in SQLite. */
import type { ChallengeStore } from "../contract/challenges.ts";
import type { SqliteEngine } from "./engine.ts";

export function createChallengeStore(engine: SqliteEngine): ChallengeStore {
  const insert = engine.query<null, [string, string, number, number]>(
    `INSERT INTO spent_challenges (signature, use, repeats_left, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (signature) DO NOTHING`,
  );
  const repeat = engine.query<null, [string, string]>(
    `UPDATE spent_challenges SET repeats_left = repeats_left - 1
     WHERE signature = ? AND use = ? AND repeats_left > 0`,
  );
  const selectUse = engine.query<{ use: string }, [string]>("SELECT use FROM spent_challenges WHERE signature = ?");
  const purge = engine.query<null, [number, number]>(
    `DELETE FROM spent_challenges WHERE signature IN
       (SELECT signature FROM spent_challenges WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );

  return {
    spend: ({ signature, use, expiresAt }) =>
      engine.write(() => {
        if (insert.run(signature, use?.name ?? "", use?.repeats ?? 0, expiresAt) > 0) return true;
        return use !== null && repeat.run(signature, use.name) > 0;
      }),

    isUsedUp: (signature) => engine.read(() => selectUse.get(signature)?.use === ""),

    purge: (nowMs, limit) => engine.write(() => purge.run(nowMs, limit)),
  };
}
