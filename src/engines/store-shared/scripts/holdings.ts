/**
 * What accounts hold, as counted by triggers, and whether it is within their limits. Check after writing the rows: if a check
 * throws, they are rolled back. Changes of one account come one after the other, so what is counted here is what there is.
 * Before anything is refused for its bytes, old versions of companions go.
 */
import type { Held } from "../../../contracts/store/accounts.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Holdings, Plan } from "../../../domain/account.ts";
import type { AppError } from "../../../domain/errors.ts";
import { limitReached } from "../../../domain/holdings.ts";
import { all, get, type Script } from "./script.ts";
import { versionRoom } from "./version-room.ts";

interface HeldRow {
  number: number;
  plan: Plan;
  companions: number;
  companionBytes: number;
  answerBytes: number;
}

export const holdingsQueries = {
  held: `SELECT a.number, a.plan, h.companions, h.companion_bytes AS "companionBytes", h.answer_bytes AS "answerBytes"
    FROM accounts a JOIN account_holdings h ON h.account_id = a.id WHERE a.id = $1`,
  // Counts only up to the limit: commands can create far more.
  keys: `SELECT count(*) AS count FROM
    (SELECT 1 FROM api_keys WHERE account_number = $1 AND revoked_at IS NULL LIMIT $2) AS held`,
  members: "SELECT count(*) AS count FROM (SELECT 1 FROM members WHERE account_id = $1 LIMIT $2) AS held",
  tokens: "SELECT count(*) AS count FROM (SELECT 1 FROM embed_tokens WHERE companion_id = $1 LIMIT $2) AS held",
};

const selectBytes = "SELECT id, bytes FROM companions WHERE number = ANY ($1::float8[]::bigint[]) ORDER BY number";

/** Bytes held before a change and after it, without the versions that it makes. */
interface Grown {
  before: number;
  after: number;
}

/** Null if the write has no limits. */
function* find(accountId: string, { holdings }: WriteContext): Script<{ held: HeldRow; limits: Holdings } | null> {
  const held = holdings === undefined ? null : yield* get<HeldRow>(holdingsQueries.held, accountId);
  return holdings === undefined || held === null ? null : { held, limits: holdings[held.plan] };
}

/** Once there is room, as far as old versions make any. */
function* findWithRoom(accountId: string, context: WriteContext): ReturnType<typeof find> {
  const found = yield* find(accountId, context);
  if (found === null || found.held.companionBytes <= found.limits.bytes) return found;
  yield* versionRoom.make(accountId, found.limits.bytes);
  return yield* find(accountId, context);
}

function* count(text: string, of: string | number, limit: number): Script<number> {
  return (yield* get<{ count: number }>(text, of, limit))?.count ?? 0;
}

export const holdings = {
  *read(accountId: string): Script<Held | null> {
    const held = yield* get<HeldRow>(holdingsQueries.held, accountId);
    if (held === null) return null;
    const keys = yield* count(holdingsQueries.keys, held.number, Number.MAX_SAFE_INTEGER);
    return { companions: held.companions, keys, bytes: held.companionBytes };
  },

  *checkNewCompanions(accountId: string, context: WriteContext): Script<void> {
    const found = yield* findWithRoom(accountId, context);
    if (found === null) return;
    const { held, limits } = found;
    if (held.companions > limits.companions) throw limitReached.companions(limits.companions);
    if (held.companionBytes > limits.bytes) throw limitReached.bytes(limits.bytes);
  },

  /** Of new companions, by their numbers: why there is no room for some, by their ids. */
  *findThoseWithoutRoom(
    accountId: string,
    numbers: readonly number[],
    context: WriteContext,
  ): Script<Map<string, AppError>> {
    const refusals = new Map<string, AppError>();
    const found = yield* findWithRoom(accountId, context);
    if (found === null) return refusals;
    const { held, limits } = found;
    if (held.companions <= limits.companions && held.companionBytes <= limits.bytes) return refusals;
    const added = yield* all<{ id: string; bytes: number }>(selectBytes, numbers);
    let companions = held.companions - added.length;
    let taken = added.reduce((left, { bytes }) => left - bytes, held.companionBytes);
    for (const { id, bytes } of added) {
      if (companions >= limits.companions) refusals.set(id, limitReached.companions(limits.companions));
      else if (taken + bytes > limits.bytes) refusals.set(id, limitReached.bytes(limits.bytes));
      else {
        companions++;
        taken += bytes;
      }
    }
    return refusals;
  },

  /** Before a change, for `checkGrowth` after it. */
  *measure(accountId: string, context: WriteContext): Script<number> {
    return (yield* find(accountId, context))?.held.companionBytes ?? 0;
  },

  /** Who holds more than the limit may still change what there is, as long as it does not grow. */
  *checkGrowth(accountId: string, bytesBefore: number, context: WriteContext): Script<void> {
    const found = yield* findWithRoom(accountId, context);
    if (found === null || found.held.companionBytes <= Math.max(bytesBefore, found.limits.bytes)) return;
    throw limitReached.bytes(found.limits.bytes);
  },

  /** The same where versions were written with the change: what they take is no growth of a change that takes nothing. */
  *checkChange(accountId: string, { before, after }: Grown, context: WriteContext): Script<void> {
    const found = yield* findWithRoom(accountId, context);
    if (found === null || after <= before) return;
    if (found.held.companionBytes > found.limits.bytes) throw limitReached.bytes(found.limits.bytes);
  },

  *checkNewKey(accountId: string, context: WriteContext): Script<void> {
    const found = yield* find(accountId, context);
    if (found === null) return;
    const { keys } = found.limits;
    if ((yield* count(holdingsQueries.keys, found.held.number, keys + 1)) > keys) throw limitReached.keys(keys);
  },

  *checkNewMember(accountId: string, context: WriteContext): Script<void> {
    const found = yield* find(accountId, context);
    if (found === null) return;
    const { members } = found.limits;
    if ((yield* count(holdingsQueries.members, accountId, members + 1)) > members) throw limitReached.members(members);
  },

  *checkNewToken(accountId: string, companionId: string, context: WriteContext): Script<void> {
    const found = yield* find(accountId, context);
    if (found === null) return;
    const { tokensPerCompanion: tokens } = found.limits;
    if ((yield* count(holdingsQueries.tokens, companionId, tokens + 1)) > tokens) throw limitReached.tokens(tokens);
  },

  *checkNewResponse(accountId: string, context: WriteContext): Script<void> {
    const found = yield* find(accountId, context);
    if (found !== null && found.held.answerBytes > found.limits.bytes) throw limitReached.responses(found.limits.bytes);
  },
};
