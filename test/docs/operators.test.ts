/**
 * The ways to run companiond, followed to the letter on a machine in a folder: their shell lines as they stand, their settings in
 * the file that they name, with a certificate authority (/usr/bin/pebble), a storage of backups and a language model on
 * loopback.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync, sign } from "node:crypto";
import { existsSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { findFreePort } from "../support/free-port.ts";
import { startMockLlm } from "../support/mock-llm.ts";
import { startPageMachine } from "../support/page-machine.ts";
import { startPebble } from "../support/pebble.ts";
import { startS3 } from "../support/s3.ts";
import { runPage } from "../support/shell-pages.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Debian's, which the lines use. */
const programs = ["/usr/bin/age-keygen", "/usr/bin/curl", "/usr/bin/openssl", "/usr/sbin/useradd"];
const email = "you@example.com";
const domain = "chat.example.com";
/** Whether the name can lead to this machine, for the service alone. */
const mayEnter =
  existsSync("/usr/bin/pebble") && Bun.spawnSync(["/usr/bin/unshare", "--mount", "true"], { stderr: "ignore" }).success;
const root = join(import.meta.dir, "../..");
const ours = generateKeyPairSync("ed25519");
const publicKey = Buffer.from(ours.publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");

/** Serves a next version: this executable, which says that it is another. */
function publishNext() {
  const version = "99.0.0";
  const program = `#!/bin/sh\n[ "$1" = version ] && echo '{"version":"${version}"}' && exit\nexec "$0.previous" "$@"\n`;
  const sha256 = new Bun.CryptoHasher("sha256").update(program).digest("hex");
  const target = `${process.platform}-${process.arch}`;
  const signed = Buffer.from(`companiond\n${version}\n${target}\n${sha256}\n`);
  const offer = { url: "next", sha256, signature: sign(null, signed, ours.privateKey).toString("base64") };
  const pages = { "/latest.json": JSON.stringify({ version, targets: { [target]: offer } }), "/next": program };
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(new Map(Object.entries(pages)).get(new URL(url).pathname) ?? null),
  });
}

/** Follows a page on a new machine, and returns what its lines printed. */
async function follow(page: string): Promise<string> {
  const llm = await startMockLlm();
  await using _llm = { [Symbol.asyncDispose]: () => llm.close() };
  await using s3 = await startS3();
  await using pebble = await startPebble();
  using files = temporaryDirectory();
  using next = publishNext();
  const [httpPort, httpsPort, metricsPort] = [findFreePort(), findFreePort(), findFreePort()];
  pebble.answer(async (token) => {
    const response = await fetch(`http://127.0.0.1:${httpPort}/.well-known/acme-challenge/${token}`);
    return response.ok ? await response.text() : null;
  });
  await Bun.write(files.file("hosts"), `127.0.0.1 localhost ${domain}\n`);
  const https = `https://127.0.0.1:${httpsPort}`;
  const tls = { rejectUnauthorized: false };
  const underDomain = {
    COMPANIOND_ACME_DIRECTORY: pebble.directory,
    COMPANIOND_HTTP_PORT: String(httpPort),
    COMPANIOND_HTTPS_PORT: String(httpsPort),
    COMPANIOND_PUBLIC_URL: `https://${domain}`,
    NODE_EXTRA_CA_CERTS: join(root, "test/fixtures/tls/one.cert.pem"),
  };
  await using machine = await startPageMachine({
    // The name leads to this machine, for the service alone.
    enter: [
      ...["/usr/bin/unshare", "--mount", "/bin/sh", "-c"],
      ...[`mount --bind '${files.file("hosts")}' /etc/hosts && exec "$@"`, "sh"],
    ],
    server: (settings) => ({
      OPENAI_BASE_URL: `${llm.url}/v1`,
      ...(settings.includes(`\nCOMPANIOND_DOMAIN=${domain}\n`) ? underDomain : { PORT: "0" }),
    }),
    update: { COMPANIOND_RELEASES_URL: next.url.href, COMPANIOND_RELEASES_KEY: publicKey },
    async openSetUpLink(link) {
      // Whoever opens it takes longer than the authority.
      await eventually(() => fetch(`${https}/healthz`, { tls }).then(Boolean, () => false), { what: "a certificate" });
      const body = JSON.stringify({ secret: new URL(link).hash.slice(1), email, password: "correct horse battery" });
      const headers = { "content-type": "application/json", host: domain, origin: `https://${domain}` };
      return (await fetch(`${https}/api/session/set-up`, { method: "POST", headers, body, tls })).status === 201;
    },
  });
  const run = await runPage(page, {
    dataDir: null,
    bin: machine.bin,
    edit: machine.edit,
    env: { ...machine.environment, CURL_MORE: `--insecure --connect-to ${domain}:443:127.0.0.1:${httpsPort}` },
    replace: {
      ...machine.replace,
      "https://s3.example.com": s3.url,
      "sk-…": "sk-test",
      "_KEY_ID=…": `_KEY_ID=${s3.place.keyId}`,
      "_SECRET=…": `_SECRET=${s3.place.secret}`,
      "age1…": "$(age-keygen -y companiond-backups.key)",
      "_SECRET_KEY=…": `_SECRET_KEY=${Buffer.alloc(32, 7).toString("base64")}`,
      "9464": String(metricsPort),
    },
    async prepare(directory) {
      for (const path of [".env.example", "deploy/companiond.service", "dist/companiond"]) {
        symlinkSync(join(root, path), join(directory, basename(path)));
      }
      return {};
    },
  });
  expect(run.exitCode === 0 ? "" : `${run.stdout}\n${run.stderr}`).toBe("");
  // The good news that the page promises.
  expect(machine.warnings).toEqual(machine.warnings.map(() => "-- No entries --\n"));
  return run.stdout;
}

test.skipIf(!mayEnter)(
  "whoever follows the guide gets a server, a certificate, a chat and backups, can go back, move and leave",
  async () => {
    const printed = await follow("docs/operators.md");
    for (const said of [
      `Status: "Serving https://${domain}, 0 open replies"`,
      "data: [DONE]",
      "It holds 1 account, 1 companion, 1 conversation",
      "Stopped for all accounts",
      'companiond_build_info{version="',
      "The old database",
    ]) {
      expect(printed).toContain(said);
    }
  },
);

test.skipIf(!mayEnter)("a service made by hand runs, is updated, and goes back", async () => {
  expect(await follow("deploy/README.md")).toContain("to 99.0.0; the old one is");
});

test("the programs that the lines use are there", () => {
  for (const program of programs) expect(existsSync(program)).toBe(true);
});
