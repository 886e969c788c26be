/**
 * What the driver does with the TLS modes of `DATABASE_URL`, which `config/server-urls.ts` and the docs rely on, on a real
 * PostgreSQL (/usr/lib/postgresql/15/bin/postgres).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseUrl } from "../../src/config/server-urls.ts";
import { explainStartFailure } from "../../src/engines/postgres/connect-failure.ts";
import { connect } from "../../src/engines/postgres/connection.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const directory = temporaryDirectory();
let encrypted: PostgresServer;
let plain: PostgresServer;
/** With a certificate of an authority, and for encrypted connections alone, as managed services have it. */
let managed: PostgresServer;

/** A copy that PostgreSQL, which is picky about whose its key is, takes as its own. */
function copyForPostgres(name: string): string {
  const owner = process.getuid?.() === 0 ? ["-o", "postgres"] : [];
  const copied = Bun.spawnSync(["/usr/bin/install", ...owner, "-m", "600", fixture(name), directory.file(name)]);
  if (copied.exitCode !== 0) throw new Error(copied.stderr.toString());
  return directory.file(name);
}

function onlyEncrypted(): string {
  writeFileSync(directory.file("hba.conf"), "hostssl all all all trust\n", { mode: 0o644 });
  return directory.file("hba.conf");
}

beforeAll(async () => {
  chmodSync(directory.path, 0o755);
  const files = { ssl_cert_file: copyForPostgres("one.cert.pem"), ssl_key_file: copyForPostgres("one.key.pem") };
  const issued = { ssl_cert_file: copyForPostgres("issued.cert.pem"), ssl_key_file: copyForPostgres("issued.key.pem") };
  [encrypted, managed, plain] = await Promise.all([
    startPostgresServer({ settings: { ssl: "on", listen_addresses: "127.0.0.1,127.0.0.2", ...files } }),
    startPostgresServer({ settings: { ssl: "on", hba_file: onlyEncrypted(), ...issued } }),
    startPostgresServer(),
  ]);
});
afterAll(async () => {
  await Promise.all([encrypted[Symbol.asyncDispose](), managed[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]);
  directory[Symbol.dispose]();
});

/** The protocol, `clear`, or the code of the error. */
async function tryUrl(url: string): Promise<string> {
  const result = await connectOnce(url);
  if (typeof result === "string") return result;
  return "code" in result ? String(result.code) : String(result);
}

/** What an operator is told whose server cannot be used. */
async function explain(url: string): Promise<string> {
  const result = explainStartFailure(await connectOnce(url));
  return result instanceof Error ? result.message : String(result);
}

async function connectOnce(url: string): Promise<string | Error> {
  // What is tested here must be what the settings take.
  const sql = connect({ url: databaseUrl(url), max: 1, statementMs: 5000 });
  try {
    const [row] = await sql`SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()`;
    return row.version ?? "clear";
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error;
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

test("a certificate of an authority is trusted by the file of that authority alone", async () => {
  const url = managed.url("postgres");
  const authority = `sslrootcert=${fixture("authority.cert.pem")}`;
  expect(await tryUrl(`${url}?sslmode=verify-full&${authority}`)).toBe("TLSv1.3");
  for (const parameters of ["sslmode=verify-full", `sslmode=verify-full&${otherAuthority}`]) {
    expect(await explain(`${url}?${parameters}`)).toContain("has a TLS certificate that is not trusted (");
  }
});

test("a server that admits nobody without TLS is answered with how to switch it on", async () => {
  expect(await explain(managed.url("postgres"))).toContain("without TLS: add sslmode=verify-full.");
  expect(await tryUrl(`${managed.url("postgres")}?sslmode=require`)).toBe("TLSv1.3");
});
