/** The compiled executable, run as an operator does: start, stop, settings, and commands beside a running server. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runExecutable, startExecutable } from "./support/executable.ts";
import { temporaryDirectory } from "./support/temporary.ts";

const version = /^\d+\.\d+\.\d+$/;

async function runJson(args: readonly string[], dataDir: string): Promise<Record<string, unknown>> {
  const { exitCode, stdout, stderr } = await runExecutable([...args, "--json", "--data-dir", dataDir]);
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: "" });
  return JSON.parse(stdout);
}

test("starts in an empty directory, migrates by itself, answers, and ends with exit code 0", async () => {
  using empty = temporaryDirectory();
  await using server = await startExecutable({ cwd: empty.path, dataDir: "companiond-data" });
  expect(await (await fetch(`${server.url}/healthz`)).json()).toMatchObject({ status: "ok" });
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  expect(readdirSync(empty.path)).toEqual(["companiond-data"]);
  expect(await server.stop()).toBe(0);
  expect(server.log.map(({ event }) => event)).toEqual(expect.arrayContaining(["listening", "stopping", "stopped"]));
  expect(server.stderr).toBe("");
});

test("keeps its files to its own user", async () => {
  await using server = await startExecutable({ args: ["--demo"] });
  const names = readdirSync(server.dataDir);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    expect({ name, mode: statSync(join(server.dataDir, name)).mode & 0o077 }).toEqual({ name, mode: 0 });
  }
});

test("prints which build it is", async () => {
  const { stdout, exitCode } = await runExecutable(["version", "--json"]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    version: expect.stringMatching(version),
    commit: expect.stringMatching(/^[0-9a-f]{12}\+?$/),
    api: expect.stringMatching(/^\d+\.\d+\.\d+\+[0-9a-f]{12}$/),
    build: {
      bun: expect.stringMatching(version),
      target: `${process.platform}-${process.arch}`,
      built_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  });
});

test("neither reads a .env nor runs a bunfig.toml of the working directory", async () => {
  using dir = temporaryDirectory();
  writeFileSync(dir.file(".env"), "COMPANIOND_LOG=debug\nCOMPANIOND_NO_SUCH_SETTING=1\n");
  writeFileSync(dir.file("bunfig.toml"), 'preload = ["./preload.ts"]\n');
  writeFileSync(dir.file("preload.ts"), 'await Bun.write("preloaded", "yes");\n');
  await using server = await startExecutable({ cwd: dir.path });
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect(readdirSync(dir.path).sort()).toEqual([".env", "bunfig.toml", "preload.ts"]);

  // The same file is heeded once it is named.
  const named = await runExecutable(["serve", "--env-file", ".env"], { cwd: dir.path });
  expect(named.exitCode).toBe(2);
  expect(named.stderr).toContain(".env line 2: COMPANIOND_NO_SUCH_SETTING is not a setting.");
});

test("reports all problems of the configuration at once and starts nothing", async () => {
  using dir = temporaryDirectory();
  const env = { PORT: "http", COMPANIOND_RATE_PER_IPS: "5", COMPANIOND_METRICS_TOKEN_FILE: "absent" };
  const { exitCode, stdout, stderr } = await runExecutable(["serve"], { env, cwd: dir.path });
  expect(exitCode).toBe(2);
  expect(stdout.split("\n")).toHaveLength(2);
  expect({ ...JSON.parse(stderr), time: null }).toEqual({ ...JSON.parse(stdout), time: null });
  expect(JSON.parse(stdout)).toMatchObject({
    level: "error",
    event: "serve failed",
    problems: [
      "COMPANIOND_RATE_PER_IPS is not a setting. Did you mean COMPANIOND_RATE_PER_IP?",
      'PORT must be a whole number from 0 to 65535, not "http".',
      "COMPANIOND_METRICS_TOKEN_FILE: there is no such file: absent",
    ],
  });
  expect(readdirSync(dir.path)).toEqual([]);
});

test.each([
  [[], 2],
  [["--help"], 0],
  [["serve", "--help"], 0],
  [["sevre"], 2],
  [["migrate", "--env-file", "absent.env"], 2],
  [["key", "revoke"], 2],
  [["key", "revoke", "nothing"], 1],
  [["account", "suspend", "nobody@shop.example"], 1],
])("ends %j with exit code %d", async (args, exitCode) => {
  const outcome = await runExecutable(args);
  expect(outcome.exitCode).toBe(exitCode);
  expect(outcome.stderr === "").toBe(exitCode === 0);
  expect(outcome.stdout === "").toBe(exitCode !== 0);
});

test("refuses a port that is taken, with a sentence", async () => {
  await using server = await startExecutable();
  const port = new URL(server.url).port;
  const { exitCode, stderr } = await runExecutable(["serve", "--port", port]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`port ${port} of 127.0.0.1 is in use by another program`);
});

test.each([
  [["--host", "192.0.2.1", "--demo"], 1, "192.0.2.1 is not an address of this machine"],
  [["--host", "nobody.invalid", "--demo"], 1, "nobody.invalid is not an address of this machine"],
  [["--host", "0.0.0.0"], 2, "no language model is configured"],
  [["--tls-cert", "absent.pem", "--tls-key", "absent.pem"], 2, "--tls-cert (COMPANIOND_TLS_CERT): ENOENT"],
  [["--tls-cert", import.meta.path, "--tls-key", import.meta.path], 2, "the certificate is not PEM"],
  [["--data-dir", "/proc/nowhere"], 1, "/proc/nowhere"],
])(
  "cannot serve with %j: exit code %d, and a sentence in the log and on standard error that says why",
  async (args, exitCode, sentence) => {
    const outcome = await runExecutable(["serve", "--port", "0", ...args]);
    expect(outcome.exitCode).toBe(exitCode);
    for (const text of [outcome.stdout, outcome.stderr]) {
      expect(text).toContain(sentence);
      expect(text).not.toContain("unexpected error");
    }
  },
);

test("prints one JSON value with serve --json, and moves the log to standard error", async () => {
  using dir = temporaryDirectory();
  const { executablePath } = await import("./support/executable.ts");
  const command = [executablePath, "serve", "--demo", "--json", "--port", "0", "--data-dir", dir.path];
  const child = Bun.spawn(command, { cwd: dir.path, env: {}, stdout: "pipe", stderr: "pipe" });
  const reader = child.stdout.getReader();
  const first = await reader.read();
  const value = JSON.parse(Buffer.from(first.value ?? []).toString());
  expect(value).toEqual({
    url: `http://127.0.0.1:${value.port}`,
    port: expect.any(Number),
    demo_embed_token: expect.stringMatching(/^emb_/),
  });
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect((await reader.read()).done).toBe(true);
  expect(await new Response(child.stderr).text()).toContain('"event":"stopped"');
});

test("migrates once, however many processes start on the same directory at the same moment", async () => {
  using dir = temporaryDirectory();
  const create = (at: number) => ["account", "create", "--email", `${at}@shop.example`, "--json"];
  const starts = [1, 2, 3, 4].map((at) => runExecutable([...create(at), "--data-dir", dir.file("data")]));
  for (const { exitCode, stderr } of await Promise.all(starts)) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  }
});

test("heeds on its next request what a command changed beside it", async () => {
  await using server = await startExecutable();
  const email = "ada@shop.example";
  await runJson(["account", "create", "--email", email], server.dataDir);
  const named = ["--account", email, "--name", "Ada"];
  const companion = await runJson(["companion", "create", ...named], server.dataDir);
  const config = () => fetch(`${server.url}/api/embed/${companion.embed_token}`);
  expect((await config()).status).toBe(200);

  const key = await runJson(["key", "create", ...named, "--scopes", "companions:read"], server.dataDir);
  const list = () => fetch(`${server.url}/api/companions`, { headers: { authorization: `Bearer ${String(key.key)}` } });
  expect((await list()).status).toBe(200);
  await runJson(["key", "revoke", String(key.id)], server.dataDir);
  expect((await list()).status).toBe(401);

  // The libraries that it loads for files are in the executable.
  const folder = join(import.meta.dir, "../examples/as-code/companions");
  const applied = await runJson(["apply", "-f", folder, "--account", email], server.dataDir);
  expect(applied["plan"]).toMatchObject([{ action: "create" }, { action: "create" }]);
  const words = ["export", "-d", `${server.dataDir}/out`, "--slug", "support", "--account", email];
  expect(await runJson(words, server.dataDir)).toMatchObject({ slugs: ["support"], sets: ["default"] });

  await runJson(["account", "suspend", email], server.dataDir);
  expect((await config()).status).toBe(404);
  await runJson(["account", "resume", email], server.dataDir);
  expect((await config()).status).toBe(200);
});

test("reads an env file and secrets from files", async () => {
  using dir = temporaryDirectory();
  mkdirSync(dir.file("secrets"));
  writeFileSync(dir.file("secrets/openai"), "sk-from-a-file\n");
  const variables = ["COMPANIOND_LOG=debug", `OPENAI_API_KEY_FILE=${dir.file("secrets/openai")}`];
  writeFileSync(dir.file("my.env"), variables.join("\n"));
  await using server = await startExecutable({ args: ["--env-file", dir.file("my.env")] });
  const listening = await server.logged("listening");
  expect(listening.llm).toBe("default");
  expect(server.stdout).not.toContain("sk-from-a-file");
});

test("leaves a one-time set-up link in a file of its own while nobody can sign in, and nowhere else", async () => {
  using data = temporaryDirectory();
  const dataDir = data.file("data");
  const first = await startExecutable({ dataDir });
  const file = `${dataDir}/setup-link`;
  const link = (await Bun.file(file).text()).trim();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(link).toStartWith(`${first.url}/app/setup#`);
  const secret = link.slice(link.indexOf("#") + 1);
  expect(first.stdout + first.stderr).not.toContain(secret);

  const setUp = () =>
    fetch(`${first.url}/api/session/set-up`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: first.url },
      body: JSON.stringify({ secret, email: "operator@example.com", password: "correct horse battery" }),
    });
  expect((await setUp()).status).toBe(201);
  expect((await setUp()).status).not.toBe(201);
  expect(await first.stop()).toBe(0);

  await using second = await startExecutable({ dataDir });
  expect(second.url).toStartWith("http://");
  expect(existsSync(file)).toBe(false);
});
