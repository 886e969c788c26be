/** Why PostgreSQL cannot be used at the start, in sentences for operators. */
import { isLostConnection, isPlainlyUnavailable, sqlState } from "./failures.ts";
import { refusal } from "./fitness.ts";

const sentences: readonly [states: readonly string[], sentence: string][] = [
  [["28P01", "28000"], "does not accept its user name or password, or admits nobody from here."],
  [["3D000"], "has no database of that name. Create it: CREATE DATABASE … ENCODING 'UTF8'."],
  [["42501"], "does not let its user work in this database. Make the user the owner of the database."],
  [["53300"], "takes no more connections. Raise max_connections, or lower COMPANIOND_DATABASE_POOL."],
  [["57P03"], "is starting up or shutting down. Try again."],
  // Statements that were prepared in another session, and settings that a pooler cannot pass on.
  [
    ["26000", "42P05", "08P01"],
    "is a connection pooler that does not keep sessions apart. Name PostgreSQL itself: sessions hold locks.",
  ],
];

/** What to reject a start with: a sentence where the failure is one of the server's, otherwise the unchanged error. */
export function explainStartFailure(error: unknown): unknown {
  const cause = isPlainlyUnavailable(error) ? error.cause : error;
  const found = sentences.find(([states]) => states.includes(sqlState(cause)));
  if (found !== undefined) return refusal(found[1], cause);
  // A setting of the connection that it does not know.
  if (sqlState(cause) === "42704" && /configuration parameter/.test(String(cause))) {
    return refusal("is older than PostgreSQL 15, which companiond needs.", cause);
  }
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code.startsWith("ERR_POSTGRES_TLS")) return refusal("offers no TLS, which sslmode in it asks for.", cause);
  if (/CERT|TLS|SSL/.test(code)) return refusal(`shows a certificate that does not verify (${code}).`, cause);
  if (code.includes("AUTHENTICATION")) return refusal("asks for a password in a way that we do not know.", cause);
  if (isLostConnection(cause) || isPlainlyUnavailable(error)) {
    return refusal("does not answer. Check that it runs, and its host and port.", cause);
  }
  return error;
}
