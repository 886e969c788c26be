/** Says why PostgreSQL could not be used at all, where the driver has a code and an operator needs a sentence. */
import { sqlState } from "./postgres/failures.ts";

const states: Readonly<Record<string, string>> = {
  "28P01": "refuses the user or the password in it",
  "28000": "does not admit this user from here (pg_hba.conf), or asks for a certificate of the client",
  "3D000": "has no database of the name in it",
  "42501": "does not let this user connect to the database",
  "53300": "has no connection left: raise max_connections, or use fewer",
  "57P03": "is starting or stopping; try again shortly",
  // What PgBouncer says of the settings with which we connect.
  "08P01": "is no PostgreSQL, or a pooler before it. Give the address of PostgreSQL itself",
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
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = states[sqlState(error)] ?? codes[code];
  if (known !== undefined) return known;
  if (/CERT|SIGNED|ISSUER/.test(code)) {
    return `has a TLS certificate that is not trusted (${code}); sslrootcert names the file of a private authority`;
  }
  return `cannot be used (${sqlState(error) || code || "no reason given"})`;
}

/** Host and port of the URL, or the path of its socket. */
export function nameServer(url: string): string {
  return decodeURIComponent(new URL(url).host);
}
