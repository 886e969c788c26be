/** Requests of companions that ask for a proof of work: solved when the server asks, by a file that is loaded then. */

import type { Challenge, CompanionError } from "../../reply-reader/errors.ts";
import { type Connection, openBy } from "./connection.ts";
import { abortable } from "./signals.ts";

/** Resolves with what to send as `X-Challenge`; rejects with the signal's reason once that fires. */
export type ChallengeSolver = (challenge: Challenge, signal?: AbortSignal) => Promise<string>;

/** One may end, or be used up, while it is on its way. */
const maxSolved = 2;

/**
 * The connection for one message or voice session, which sends the same solution again. `onChallenge` is called with
 * true when a challenge is being solved, and with false when it is. Where that fails, the refusal is thrown.
 */
export function withChallenges(
  connection: Connection,
  solve: ChallengeSolver,
  onChallenge?: (isSolving: boolean) => void,
): Connection {
  let answer = {};
  const open: Connection["open"] = async (path, init, call, canRetry) => {
    for (let solved = 0; ; solved++) {
      try {
        const headers = { ...init.headers, ...(init.method && answer) };
        return await connection.open(path, { ...init, headers }, call, canRetry);
      } catch (error) {
        const { challenge } = error as CompanionError;
        if (!challenge || solved >= maxSolved) throw error;
        onChallenge?.(true);
        try {
          answer = { "X-Challenge": await abortable(solve(challenge, call.signal), call.signal) };
        } catch {
          call.signal?.throwIfAborted();
          throw error;
        } finally {
          onChallenge?.(false);
        }
      }
    }
  };
  return openBy(open, connection);
}
