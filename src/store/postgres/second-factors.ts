/** Second factors, their recovery codes, and the server's sealed values in PostgreSQL. */
import type { SecondFactor, SecondFactorStore, ServerSecretStore } from "../contract/second-factors.ts";
import { endSessions } from "./account-changes.ts";
import type { PostgresEngine } from "./engine.ts";
import type { ChangeRecorder } from "./parts.ts";
import type { Queries } from "./queries.ts";

const countCodes = "SELECT count(*)::integer AS count FROM recovery_codes WHERE account_id = $1";
const selectFactor = `SELECT totp_secret AS "sealedSecret", totp_confirmed_at::float8 AS "confirmedAt",
    totp_last_step::float8 AS "lastStep", (${countCodes}) AS "recoveryCodesLeft"
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
const insertCodes = "INSERT INTO recovery_codes (account_id, hash) SELECT $1, unnest($2::text[])";
const deleteCodes = "DELETE FROM recovery_codes WHERE account_id = $1";
const deleteCode = "DELETE FROM recovery_codes WHERE account_id = $1 AND hash = $2";

export function createSecondFactorStore(engine: PostgresEngine, changes: ChangeRecorder): SecondFactorStore {
  async function readCodesLeft(queries: Queries, accountId: string): Promise<number> {
    return (await queries.get<{ count: number }>(countCodes, [accountId]))?.count ?? 0;
  }

  return {
    find: (accountId) => engine.quick.get<SecondFactor>(selectFactor, [accountId]),

    async listHolders(limit) {
      const rows = await engine.quick.all<{ email: string }>(selectHolders, [limit]);
      return rows.map(({ email }) => email);
    },

    begin: (accountId, sealedSecret, context) =>
      engine.change(accountId, async (transaction) => {
        if ((await transaction.run(beginFactor, [accountId, sealedSecret])) === 0) return false;
        const change = { accountId, action: "totp.begin", targetId: accountId, details: {} };
        await changes.record(transaction, context, change);
        return true;
      }),

    confirm: (accountId, { sealedSecret, step, recoveryHashes, keptSessionId }, context) =>
      engine.change(accountId, async (transaction) => {
        const confirmed = await transaction.run(confirmFactor, [accountId, sealedSecret, context.nowMs, step]);
        if (confirmed === 0) return false;
        const [, , ended] = await Promise.all([
          transaction.run(deleteCodes, [accountId]),
          transaction.run(insertCodes, [accountId, recoveryHashes]),
          endSessions(transaction, accountId, keptSessionId),
        ]);
        const details = { sessions_ended: ended };
        await changes.record(transaction, context, { accountId, action: "totp.enable", targetId: accountId, details });
        return true;
      }),

    takeStep: (accountId, step) =>
      engine.write(async (transaction) => (await transaction.run(takeNewerStep, [accountId, step])) > 0),

    takeRecoveryCode: (accountId, hash, context) =>
      engine.change(accountId, async (transaction) => {
        if ((await transaction.run(deleteCode, [accountId, hash])) === 0) return false;
        const details = { left: await readCodesLeft(transaction, accountId) };
        await changes.record(transaction, context, { accountId, action: "totp.recover", targetId: accountId, details });
        return true;
      }),

    remove: (accountId, context) =>
      engine.change(accountId, async (transaction) => {
        if ((await transaction.run(removeFactor, [accountId])) === 0) return false;
        await transaction.run(deleteCodes, [accountId]);
        const change = { accountId, action: "totp.disable", targetId: accountId, details: {} };
        await changes.record(transaction, context, change);
        return true;
      }),
  };
}

export function createServerSecretStore(engine: PostgresEngine): ServerSecretStore {
  async function find(queries: Queries, name: string): Promise<string | null> {
    const select = "SELECT sealed FROM server_secrets WHERE name = $1";
    return (await queries.get<{ sealed: string }>(select, [name]))?.sealed ?? null;
  }

  return {
    find: (name) => find(engine.quick, name),
    replace: (name, sealed) =>
      engine.write(async (transaction) => {
        await transaction.run("UPDATE server_secrets SET sealed = $2 WHERE name = $1", [name, sealed]);
      }),
    keep: (name, sealed) =>
      engine.write(async (transaction) => {
        const insert = "INSERT INTO server_secrets (name, sealed) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        await transaction.run(insert, [name, sealed]);
        return (await find(transaction, name)) ?? sealed;
      }),
  };
}
