/** Second factors, their recovery codes, and the server's sealed values. */
import type { SecondFactor, SecondFactorStore, ServerSecretStore } from "../../../contracts/store/second-factors.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import type { Identity } from "../../../domain/member.ts";
import { listEmails } from "./accounts.ts";
import { changes } from "./changes.ts";
import { endSessions, recoveryCodesOf, signInOf } from "./members.ts";
import { get, insert, insertAll, run, type Script, type ScriptRunner } from "./script.ts";

const countCodes = `SELECT count(*) AS count FROM ${recoveryCodesOf}`;
const selectHolders = `SELECT email FROM (SELECT email, created_at FROM accounts WHERE totp_secret IS NOT NULL
    UNION ALL SELECT email, created_at FROM members WHERE totp_secret IS NOT NULL) AS holders
  ORDER BY created_at, email LIMIT $1`;
const deleteCodes = `DELETE FROM ${recoveryCodesOf}`;

/** What is read and changed of a person, whose id and whose account's are always the first parameters. */
function sentencesOf(table: string, owner: string) {
  const person = `id = $1 AND ${owner} = $2`;
  const update = (set: string, condition: string) => `UPDATE ${table} SET ${set} WHERE ${person} AND ${condition}`;
  const isNewer = "totp_confirmed_at IS NOT NULL AND (totp_last_step IS NULL OR totp_last_step < $3)";
  const isWaiting = "totp_secret = $3 AND totp_confirmed_at IS NULL";
  const nothing = "totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL";
  return {
    select: `SELECT totp_secret AS "sealedSecret", totp_confirmed_at AS "confirmedAt", totp_last_step AS "lastStep"
      FROM ${table} WHERE ${person} AND totp_secret IS NOT NULL`,
    begin: update("totp_secret = $3, totp_last_step = NULL", "totp_confirmed_at IS NULL"),
    confirm: update("totp_confirmed_at = $4, totp_last_step = $5", isWaiting),
    takeNewerStep: update("totp_last_step = $3", isNewer),
    remove: update(nothing, "totp_secret IS NOT NULL"),
  };
}
const sentences = { accounts: sentencesOf("accounts", "id"), members: sentencesOf("members", "account_id") };

function of(person: Identity) {
  const { table, id } = signInOf(person);
  return { ...sentences[table], ids: [id, person.accountId] };
}

function* countCodesOf({ accountId, memberId }: Identity): Script<number> {
  return (yield* get<{ count: number }>(countCodes, accountId, memberId))?.count ?? 0;
}

function* record(
  { accountId, memberId }: Identity,
  context: WriteContext,
  action: string,
  details: Record<string, number> = {},
): Script<void> {
  yield* changes.record(context, { accountId, action, targetId: memberId ?? accountId, details });
}

export function createSecondFactorStore(scripts: ScriptRunner): SecondFactorStore {
  return {
    find: (person) =>
      scripts.read(function* () {
        const { select, ids } = of(person);
        const factor = yield* get<Omit<SecondFactor, "recoveryCodesLeft">>(select, ...ids);
        return factor && { ...factor, recoveryCodesLeft: yield* countCodesOf(person) };
      }),

    listHolders: (limit) => scripts.read(() => listEmails(selectHolders, limit)),

    begin: (person, sealedSecret, context) =>
      scripts.change(person.accountId, function* () {
        const { begin, ids } = of(person);
        if ((yield* run(begin, ...ids, sealedSecret)) === 0) return false;
        yield* record(person, context, "totp.begin");
        return true;
      }),

    confirm: (person, { sealedSecret, step, recoveryHashes, keptSessionId }, context) =>
      scripts.change(person.accountId, function* () {
        const { accountId, memberId } = person;
        const { confirm, ids } = of(person);
        if ((yield* run(confirm, ...ids, sealedSecret, context.nowMs, step)) === 0) return false;
        yield* run(deleteCodes, accountId, memberId);
        yield* insertAll(
          "recovery_codes",
          recoveryHashes.map((hash) => ({ accountId, memberId, hash })),
        );
        yield* record(person, context, "totp.enable", { sessions_ended: yield* endSessions(person, keptSessionId) });
        return true;
      }),

    takeStep: (person, step) =>
      scripts.write(function* () {
        const { takeNewerStep, ids } = of(person);
        return (yield* run(takeNewerStep, ...ids, step)) > 0;
      }),

    takeRecoveryCode: (person, hash, context) =>
      scripts.change(person.accountId, function* () {
        const { accountId, memberId } = person;
        if ((yield* run(`${deleteCodes} AND hash = $3`, accountId, memberId, hash)) === 0) return false;
        yield* record(person, context, "totp.recover", { left: yield* countCodesOf(person) });
        return true;
      }),

    remove: (person, context) =>
      scripts.change(person.accountId, function* () {
        const { remove, ids } = of(person);
        if ((yield* run(remove, ...ids)) === 0) return false;
        yield* run(deleteCodes, person.accountId, person.memberId);
        yield* record(person, context, "totp.disable");
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
