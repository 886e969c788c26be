/**
 * Whether a PostgreSQL server can be reached and hold the store; each refusal is a sentence with the remedy.
 */

import { AppError } from "../../domain/errors.ts";
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { codeOf } from "../../lib/error-code.ts";
import { isLostConnection, isPlainlyUnavailable, sqlState } from "./failures.ts";
import type { Queries } from "./queries.ts";

const pooler =
  "is no PostgreSQL, or a connection pooler that does not keep sessions apart. Name PostgreSQL itself: sessions hold locks";

const withoutTls =
  "does not admit this user from here without TLS: add sslmode=verify-full. Otherwise pg_hba.conf on the server decides";

const states: Readonly<Record<string, string>> = {
  "28P01": "refuses the user or the password in it",
  "28000": "does not admit this user from here (pg_hba.conf), or asks for a certificate of the client",
  "3D000": "has no database of the name in it. Create it: CREATE DATABASE … ENCODING 'UTF8'",
  "42501": "does not let this user work in the database. Make the user the owner of the database",
  "53300": "has no connection left: raise max_connections, or use fewer",
  "57P03": "is starting or stopping; try again shortly",
  // How PgBouncer refuses the settings with which we connect, and of statements that were prepared in another session.
  "08P01": pooler,
  "26000": pooler,
  "42P05": pooler,
};

const codes: Readonly<Record<string, string>> = {
  ERR_POSTGRES_CONNECTION_REFUSED: "cannot be reached: nothing listens there, or the name has no address",
  ERR_POSTGRES_CONNECTION_TIMEOUT: "does not answer",
  ERR_POSTGRES_CONNECTION_FAILED: "closes the connection without an answer, or cannot be reached",
  ERR_POSTGRES_TLS_NOT_AVAILABLE: "has no TLS, which sslmode asks for",
  ERR_POSTGRES_CHANNEL_BINDING_REQUIRED: "does not offer channel_binding",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a TLS certificate for another name",
};

/** The end of a sentence that begins with the server's name, and has no full stop. Never with a password. */
export function explainConnectFailure(error: unknown): string {
  return findReason(error) ?? `cannot be used (${sqlState(error) || codeOf(error) || "no reason given"})`;
}

/** What to reject a start with: a sentence where PostgreSQL could not be used at all, otherwise the unchanged error. */
export function explainStartFailure(error: unknown): unknown {
  const cause = isPlainlyUnavailable(error) ? error.cause : error;
  const reason = findReason(cause);
  // The server's own message may add something, the driver's only repeats the sentence.
  const said = sqlState(cause) === "" ? undefined : cause;
  if (reason !== null) return refusal(`${reason}.`, said);
  if (isPlainlyUnavailable(error)) return refusal("does not answer. Check that it runs, and its host and port.", said);
  return error;
}

/** Host and port of the URL, or the path of its socket. */
export function nameServer(url: string): string {
  return decodeURIComponent(new URL(url).host);
}

function findReason(error: unknown): string | null {
  const code = codeOf(error);
  // It refuses by pg_hba.conf, and reports that the attempt was not encrypted: on managed services that is why.
  if (sqlState(error) === "28000" && /no encryption/.test(String(error))) return withoutTls;
  const known = states[sqlState(error)] ?? codes[code];
  if (known !== undefined) return known;
  // A setting of the connection that it does not know.
  if (sqlState(error) === "42704" && /configuration parameter/.test(String(error))) {
    return "is older than PostgreSQL 15, which companiond needs";
  }
  if (isUntrustedCertificate(code)) {
    return `has a TLS certificate that is not trusted (${code}); sslrootcert names the file of a private authority`;
  }
  if (code.includes("AUTHENTICATION")) return "requires a password method that this program does not support";
  return isLostConnection(error) ? "does not answer, or closes the connection" : null;
}

/** 15, as PostgreSQL numbers itself. */
const oldestServer = 150_000;

interface ServerFacts {
  /** As PostgreSQL reports it: `15.18`. */
  version: string;
  isSupported: boolean;
  encoding: string;
  isReplica: boolean;
}

export async function readServerFacts(queries: Pick<Queries, "get">): Promise<ServerFacts> {
  const facts = await queries.get<ServerFacts>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
       current_setting('server_version_num')::int >= ${oldestServer} AS "isSupported",
       current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS "isReplica"`,
  );
  if (facts === null) throw new Error("PostgreSQL reported nothing about itself");
  return facts;
}

/** Throws `unavailable` if the server cannot be used. */
export function requireFit({ version, isSupported, encoding, isReplica }: ServerFacts): void {
  if (!isSupported) {
    throw refusal(`runs PostgreSQL ${version}; companiond needs 15 or later.`);
  }
  if (encoding !== "UTF8") {
    throw refusal(`stores text as ${encoding}. Create the database with ENCODING 'UTF8'.`);
  }
  if (isReplica) throw refusal("is a read-only replica. Give the address of the primary.");
}

export function refusal(what: string, cause?: unknown): AppError {
  return new AppError("unavailable", `The server of DATABASE_URL ${what}`, { cause });
}
