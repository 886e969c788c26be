/** Spent challenges. */
import type { ChallengeStore } from "../../../contracts/store/challenges.ts";
import { get, insert, run, type ScriptRunner } from "./script.ts";

const repeat = `UPDATE spent_challenges SET repeats_left = repeats_left - 1
  WHERE signature = $1 AND use = $2 AND repeats_left > 0`;
const selectUse = "SELECT use FROM spent_challenges WHERE signature = $1";
const deleteExpired = `DELETE FROM spent_challenges WHERE signature IN
  (SELECT signature FROM spent_challenges WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

export function createChallengeStore(scripts: ScriptRunner): ChallengeStore {
  return {
    spend: ({ signature, use, expiresAt }) =>
      scripts.write(function* () {
        const row = { signature, use: use?.name ?? "", repeatsLeft: use?.repeats ?? 0, expiresAt };
        // Waits for another server that is about to spend it.
        if ((yield* insert("spent_challenges", row, "ON CONFLICT (signature) DO NOTHING")) > 0) return true;
        return use !== null && (yield* run(repeat, signature, use.name)) > 0;
      }),

    isUsedUp: (signature) =>
      scripts.read(function* () {
        return (yield* get<{ use: string }>(selectUse, signature))?.use === "";
      }),

    purge: (nowMs, limit) => scripts.writeHeavy(() => run(deleteExpired, nowMs, limit)),
  };
}
