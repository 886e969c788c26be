/**
 * What accounts hold, as counted by triggers, and whether it is within their limits. Call it inside a write or a read.
 */
import type { AppError } from "../../domain/errors.ts";
import { limitReached } from "../../domain/holdings.ts";
import type { Held } from "../contract/accounts.ts";
import type { WriteContext } from "../contract/write-context.ts";
import {
  findThoseWithoutRoom,
  type HeldRow,
  hasRoomForCompanions,
  type LimitedHoldings,
  requireRoomForAnswers,
  requireRoomForCompanions,
  requireRoomForGrowth,
  requireRoomForSources,
} from "../rows/holdings.ts";
import type { SqliteEngine } from "./engine.ts";

export const holdingsQueries = {
  held: `SELECT a.number, a.plan, h.companions, h.companion_bytes AS companionBytes,
       h.answer_bytes AS answerBytes
     FROM accounts a JOIN account_holdings h ON h.account_id = a.id WHERE a.id = ?`,
  // Counts only up to the limit: commands can create far more.
  keys: "SELECT count(*) AS count FROM (SELECT 1 FROM api_keys WHERE account_number = ? AND revoked_at IS NULL LIMIT ?)",
  tokens: "SELECT count(*) AS count FROM (SELECT 1 FROM embed_tokens WHERE companion_id = ? LIMIT ?)",
};

export type HoldingsKeeper = ReturnType<typeof createHoldingsKeeper>;

/** Check after writing the rows: if a check throws, they are rolled back. */
export function createHoldingsKeeper(engine: SqliteEngine) {
  const selectHeld = engine.query<HeldRow, [string]>(holdingsQueries.held);
  const countKeys = engine.query<{ count: number }, [number, number]>(holdingsQueries.keys);
  const selectBytes = engine.query<{ id: string; bytes: number }, [number]>(
    "SELECT id, bytes FROM companions WHERE number = ?",
  );
  const countTokens = engine.query<{ count: number }, [string, number]>(holdingsQueries.tokens);

  /** Null if the write has no limits. */
  function find(accountId: string, { holdings }: WriteContext): LimitedHoldings | null {
    const held = holdings === undefined ? null : selectHeld.get(accountId);
    return holdings === undefined || held === null ? null : { held, limits: holdings[held.plan] };
  }

  return {
    read(accountId: string): Held | null {
      const held = selectHeld.get(accountId);
      if (held === null) return null;
      const keys = countKeys.get(held.number, Number.MAX_SAFE_INTEGER)?.count ?? 0;
      return { companions: held.companions, keys, bytes: held.companionBytes };
    },

    checkNewCompanions(accountId: string, context: WriteContext): void {
      const found = find(accountId, context);
      if (found !== null) requireRoomForCompanions(found);
    },

    /** Of new companions, by their numbers: why there is no room for some, by their ids. */
    findThoseWithoutRoom(accountId: string, numbers: readonly number[], context: WriteContext): Map<string, AppError> {
      const found = find(accountId, context);
      if (found === null || hasRoomForCompanions(found)) return new Map();
      const added = numbers.map((number) => selectBytes.get(number)).filter((row) => row !== null);
      return findThoseWithoutRoom(found, added);
    },

    /** Call it before the change, and call the returned function after it. */
    watchGrowth(accountId: string, context: WriteContext): () => void {
      const before = find(accountId, context)?.held.companionBytes ?? 0;
      return () => {
        const found = find(accountId, context);
        if (found !== null) requireRoomForGrowth(found, before);
      };
    },

    checkNewSource(accountId: string, context: WriteContext): void {
      const found = find(accountId, context);
      if (found !== null) requireRoomForSources(found);
    },

    checkNewKey(accountId: string, context: WriteContext): void {
      const found = find(accountId, context);
      if (found === null) return;
      const { keys } = found.limits;
      const { count = 0 } = countKeys.get(found.held.number, keys + 1) ?? {};
      if (count > keys) throw limitReached.keys(keys);
    },

    checkNewToken(accountId: string, companionId: string, context: WriteContext): void {
      const found = find(accountId, context);
      if (found === null) return;
      const { tokensPerCompanion } = found.limits;
      const { count = 0 } = countTokens.get(companionId, tokensPerCompanion + 1) ?? {};
      if (count > tokensPerCompanion) throw limitReached.tokens(tokensPerCompanion);
    },

    checkNewResponse(accountId: string, context: WriteContext): void {
      const found = find(accountId, context);
      if (found !== null) requireRoomForAnswers(found);
    },
  };
}
