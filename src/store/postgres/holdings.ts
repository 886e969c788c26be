/**
 * What accounts hold, as counted by triggers, and whether it is within their limits. Changes of one account come one
 * after the other (`PostgresEngine.change`), so what is counted here is what there is.
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
import type { Queries } from "./queries.ts";

const selectHeld = `SELECT a.number::float8 AS number, a.plan, h.companions::float8 AS companions,
    h.companion_bytes::float8 AS "companionBytes", h.answer_bytes::float8 AS "answerBytes"
  FROM accounts a JOIN account_holdings h ON h.account_id = a.id WHERE a.id = $1`;
// Counts only up to the limit: commands can create far more.
const countKeys = `SELECT count(*)::float8 AS count FROM
  (SELECT 1 FROM api_keys WHERE account_number = $1 AND revoked_at IS NULL LIMIT $2) AS held`;
const countTokens = `SELECT count(*)::float8 AS count FROM
  (SELECT 1 FROM embed_tokens WHERE companion_id = $1 LIMIT $2) AS held`;

const selectBytes = `SELECT id, bytes::float8 AS bytes FROM companions
  WHERE number = ANY($1::float8[]::bigint[]) ORDER BY number`;

export type HoldingsKeeper = ReturnType<typeof createHoldingsKeeper>;

/** Check after writing the rows: if a check throws, they are rolled back. */
export function createHoldingsKeeper() {
  /** Null if the write has no limits. */
  async function find(
    transaction: Queries,
    accountId: string,
    { holdings }: WriteContext,
  ): Promise<LimitedHoldings | null> {
    if (holdings === undefined) return null;
    const held = await transaction.get<HeldRow>(selectHeld, [accountId]);
    return held === null ? null : { held, limits: holdings[held.plan] };
  }

  async function count(queries: Queries, text: string, of: string | number, limit: number): Promise<number> {
    return (await queries.get<{ count: number }>(text, [of, limit]))?.count ?? 0;
  }

  return {
    async read(queries: Queries, accountId: string): Promise<Held | null> {
      const held = await queries.get<HeldRow>(selectHeld, [accountId]);
      if (held === null) return null;
      const keys = await count(queries, countKeys, held.number, Number.MAX_SAFE_INTEGER);
      return { companions: held.companions, keys, bytes: held.companionBytes };
    },

    async checkNewCompanions(transaction: Queries, accountId: string, context: WriteContext): Promise<void> {
      const found = await find(transaction, accountId, context);
      if (found !== null) requireRoomForCompanions(found);
    },

    /** Of new companions, by their numbers: why there is no room for some, by their ids. */
    async findThoseWithoutRoom(
      transaction: Queries,
      accountId: string,
      numbers: readonly number[],
      context: WriteContext,
    ): Promise<Map<string, AppError>> {
      const found = await find(transaction, accountId, context);
      if (found === null || hasRoomForCompanions(found)) return new Map();
      return findThoseWithoutRoom(found, await transaction.all<{ id: string; bytes: number }>(selectBytes, [numbers]));
    },

    /** Call it before the change, and call the returned function after it. */
    async watchGrowth(transaction: Queries, accountId: string, context: WriteContext): Promise<() => Promise<void>> {
      const before = (await find(transaction, accountId, context))?.held.companionBytes ?? 0;
      return async () => {
        const found = await find(transaction, accountId, context);
        if (found !== null) requireRoomForGrowth(found, before);
      };
    },

    async checkNewSource(transaction: Queries, accountId: string, context: WriteContext): Promise<void> {
      const found = await find(transaction, accountId, context);
      if (found !== null) requireRoomForSources(found);
    },

    async checkNewKey(transaction: Queries, accountId: string, context: WriteContext): Promise<void> {
      const found = await find(transaction, accountId, context);
      if (found === null) return;
      const { keys } = found.limits;
      if ((await count(transaction, countKeys, found.held.number, keys + 1)) > keys) throw limitReached.keys(keys);
    },

    async checkNewToken(
      transaction: Queries,
      accountId: string,
      companionId: string,
      context: WriteContext,
    ): Promise<void> {
      const found = await find(transaction, accountId, context);
      if (found === null) return;
      const { tokensPerCompanion: tokens } = found.limits;
      if ((await count(transaction, countTokens, companionId, tokens + 1)) > tokens) throw limitReached.tokens(tokens);
    },

    async checkNewResponse(transaction: Queries, accountId: string, context: WriteContext): Promise<void> {
      const found = await find(transaction, accountId, context);
      if (found !== null) requireRoomForAnswers(found);
    },
  };
}
