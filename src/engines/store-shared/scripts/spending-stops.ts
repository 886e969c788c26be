/** The operator's stops of spending. */
import type { SpendingStop, SpendingStore } from "../../../contracts/store/spending.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { changes } from "./changes.ts";
import { all, get, insert, lock, run, type Script, type ScriptRunner } from "./script.ts";

/** Of the empty id of all accounts. */
const allAccounts = "";

const selectStops = `SELECT nullif(account_id, '') AS "accountId", stopped_at AS "stoppedAt" FROM spending_stops
  ORDER BY account_id`;
const selectStop = `SELECT min(stopped_at) AS "stoppedAt" FROM spending_stops WHERE account_id IN ('', $1)`;
const selectOperator = "SELECT id FROM accounts WHERE role = 'operator' ORDER BY number LIMIT 1";

function* record(action: string, accountId: string | null, context: WriteContext): Script<void> {
  const operator = accountId === null ? yield* get<{ id: string }>(selectOperator) : null;
  const seenBy = accountId ?? operator?.id ?? allAccounts;
  const details = { account_id: accountId };
  yield* changes.record(context, { accountId: seenBy, action, targetId: accountId, details });
}

/** For changes of what an account may spend: nothing is reserved or settled in it meanwhile. */
export function changeSpending<Result>(
  scripts: ScriptRunner,
  accountId: string,
  script: () => Script<Result>,
): Promise<Result> {
  return scripts.change(accountId, function* () {
    yield* lock(`spending ${accountId}`);
    return yield* script();
  });
}

type SpendingStops = Pick<SpendingStore, "stop" | "start" | "listStops" | "findStop">;

export function createSpendingStops(scripts: ScriptRunner): SpendingStops {
  return {
    stop: (accountId, context) =>
      changeSpending(scripts, accountId ?? allAccounts, function* () {
        if (accountId !== null && (yield* changes.findAccountNumber(accountId)) === null) return false;
        const stop = { accountId: accountId ?? allAccounts, stoppedAt: context.nowMs };
        const stopped = yield* insert("spending_stops", stop, "ON CONFLICT DO NOTHING");
        if (stopped > 0) yield* record("spending.stop", accountId, context);
        return true;
      }),

    start: (accountId, context) =>
      changeSpending(scripts, accountId ?? allAccounts, function* () {
        const ended = yield* run("DELETE FROM spending_stops WHERE account_id = $1", accountId ?? allAccounts);
        if (ended === 0) return false;
        yield* record("spending.start", accountId, context);
        return true;
      }),

    listStops: () => scripts.read(() => all<SpendingStop>(selectStops)),

    findStop: async (accountId) => {
      const row = await scripts.read(() => get<{ stoppedAt: number | null }>(selectStop, accountId));
      return row?.stoppedAt ?? null;
    },
  };
}
