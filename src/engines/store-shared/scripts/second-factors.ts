/** Second factors, their recovery codes, and the server's sealed values. */
import type { SecondFactor, SecondFactorStore, ServerSecretStore } from "../../../contracts/store/second-factors.ts";
import { endSessions } from "./accounts.ts";
import { changes } from "./changes.ts";
import { all, get, insert, insertAll, run, type Script, type ScriptRunner } from "./script.ts";

const countCodes = "SELECT count(*) AS count FROM recovery_codes WHERE account_id = $1";
const selectFactor = `SELECT totp_secret AS "sealedSecret", totp_confirmed_at AS "confirmedAt",
    totp_last_step AS "lastStep", (${countCodes}) AS "recoveryCodesLeft"
  FROM accounts WHERE id = $1 AND totp_secret IS NOT NULL`;
const selectHolders = "SELECT email FROM accounts WHERE totp_secret IS NOT NULL ORDER BY number LIMIT $1";
const beginFactor = `UPDATE accounts SET totp_secret = $2, totp_last_step = NULL
  WHERE id = $1 AND totp_confirmed_at IS NULL`;
const confirmFactor = `UPDATE accounts SET totp_confirmed_at = $3, totp_last_step = $4
  WHERE id = $1 AND totp_secret = $2 AND totp_confirmed_at IS NULL`;
const takeNewerStep = `UPDATE accounts SET totp_last_step = $2
  WHERE id = $1 AND totp_confirmed_at IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $2)`;
const removeFactor = `UPDATE accounts SET totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL
  WHERE id = $1 AND totp_secret IS NOT NULL`;
const deleteCodes = "DELETE FROM recovery_codes WHERE account_id = $1";
const deleteCode = "DELETE FROM recovery_codes WHERE account_id = $1 AND hash = $2";

export function createSecondFactorStore(scripts: ScriptRunner): SecondFactorStore {
  return {
    find: (accountId) => scripts.read(() => get<SecondFactor>(selectFactor, accountId)),

    async listHolders(limit) {
      const rows = await scripts.read(() => all<{ email: string }>(selectHolders, limit));
      return rows.map(({ email }) => email);
    },

    begin: (accountId, sealedSecret, context) =>
      scripts.change(accountId, function* () {
        if ((yield* run(beginFactor, accountId, sealedSecret)) === 0) return false;
        yield* changes.record(context, { accountId, action: "totp.begin", targetId: accountId, details: {} });
        return true;
      }),

    confirm: (accountId, { sealedSecret, step, recoveryHashes, keptSessionId }, context) =>
      scripts.change(accountId, function* () {
        if ((yield* run(confirmFactor, accountId, sealedSecret, context.nowMs, step)) === 0) return false;
        yield* run(deleteCodes, accountId);
        yield* insertAll(
          "recovery_codes",
          recoveryHashes.map((hash) => ({ accountId, hash })),
        );
        const details = { sessions_ended: yield* endSessions(accountId, keptSessionId) };
        yield* changes.record(context, { accountId, action: "totp.enable", targetId: accountId, details });
        return true;
      }),

    takeStep: (accountId, step) =>
      scripts.write(function* () {
        return (yield* run(takeNewerStep, accountId, step)) > 0;
      }),

    takeRecoveryCode: (accountId, hash, context) =>
      scripts.change(accountId, function* () {
        if ((yield* run(deleteCode, accountId, hash)) === 0) return false;
        const left = (yield* get<{ count: number }>(countCodes, accountId))?.count ?? 0;
        yield* changes.record(context, { accountId, action: "totp.recover", targetId: accountId, details: { left } });
        return true;
      }),

    remove: (accountId, context) =>
      scripts.change(accountId, function* () {
        if ((yield* run(removeFactor, accountId)) === 0) return false;
        yield* run(deleteCodes, accountId);
        yield* changes.record(context, { accountId, action: "totp.disable", targetId: accountId, details: {} });
        return true;
      }),
  };
}

function* findSecret(name: string): Script<string | null> {
  return (yield* get<{ sealed: string }>("SELECT sealed FROM server_secrets WHERE name = $1", name))?.sealed ?? null;
}

export function createServerSecretStore(scripts: ScriptRunner): ServerSecretStore {
  return {
    find: (name) => scripts.read(() => findSecret(name)),
    replace: (name, sealed) =>
      scripts.write(function* () {
        yield* run("UPDATE server_secrets SET sealed = $2 WHERE name = $1", name, sealed);
      }),
    keep: (name, sealed) =>
      scripts.write(function* () {
        yield* insert("server_secrets", { name, sealed }, "ON CONFLICT DO NOTHING");
        return (yield* findSecret(name)) ?? sealed;
      }),
  };
}
