/**
 * What the driver does with the TLS modes of `DATABASE_URL`, which `config/server-urls.ts` and the docs rely on, on a real
 * PostgreSQL (/usr/lib/postgresql/15/bin/postgres).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { databaseUrl } from "../../src/config/server-urls.ts";
import { connect } from "../../src/store/postgres/connection.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const directory = temporaryDirectory();
let encrypted: PostgresServer;
let plain: PostgresServer;

/** A copy that PostgreSQL, which is picky about whose its key is, takes as its own. */
function copyForPostgres(name: string): string {
  const owner = process.getuid?.() === 0 ? ["-o", "postgres"] : [];
  const copied = Bun.spawnSync(["/usr/bin/install", ...owner, "-m", "600", fixture(name), directory.file(name)]);
  if (copied.exitCode !== 0) throw new Error(copied.stderr.toString());
  return directory.file(name);
}

beforeAll(async () => {
  chmodSync(directory.path, 0o755);
  const files = { ssl_cert_file: copyForPostgres("one.cert.pem"), ssl_key_file: copyForPostgres("one.key.pem") };
  [encrypted, plain] = await Promise.all([
    startPostgresServer({ settings: { ssl: "on", listen_addresses: "127.0.0.1,127.0.0.2", ...files } }),
    startPostgresServer(),
  ]);
});
afterAll(async () => {
  await Promise.all([encrypted[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]);
  directory[Symbol.dispose]();
});

/** The protocol, `clear`, or the code of the error. */
async function tryUrl(url: string): Promise<string> {
  // What is tested here must be what the settings take.
  const sql = connect({ url: databaseUrl(url), max: 1, statementMs: 5000 });
  try {
    const [row] = await sql`SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    return row.version ?? "clear";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  } finally {
    await sql.close();
  }
}

const ownAuthority = `sslrootcert=${fixture("one.cert.pem")}`;
const otherAuthority = `sslrootcert=${fixture("two.cert.pem")}`;

test.each([
  ["", "clear"],
  ["?sslmode=disable", "clear"],
  ["?sslmode=require", "TLSv1.3"],
  ["?sslmode=verify-ca", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["?sslmode=verify-full", "DEPTH_ZERO_SELF_SIGNED_CERT"],
  [`?sslmode=verify-ca&${ownAuthority}`, "TLSv1.3"],
  [`?sslmode=verify-full&${ownAuthority}`, "TLSv1.3"],
  [`?sslmode=verify-full&${otherAuthority}`, "DEPTH_ZERO_SELF_SIGNED_CERT"],
])("a server with TLS: %s is %s", async (parameters, result) => {
  expect(await tryUrl(encrypted.url("postgres") + parameters)).toBe(result);
});

test("only verify-full looks at the name on the certificate", async () => {
  // An address of this machine that is not on it.
  const url = encrypted.url("postgres").replace("127.0.0.1", "127.0.0.2");
  expect(await tryUrl(`${url}?sslmode=verify-ca&${ownAuthority}`)).toBe("TLSv1.3");
  expect(await tryUrl(`${url}?sslmode=verify-full&${ownAuthority}`)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
});

test.each(["require", "verify-ca", "verify-full"])("a server without TLS is refused with sslmode=%s", async (mode) => {
  expect(await tryUrl(`${plain.url("postgres")}?sslmode=${mode}`)).toBe("ERR_POSTGRES_TLS_NOT_AVAILABLE");
});
