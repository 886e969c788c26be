/** The executable for musl, started by musl's own loader: chat, commands, backup and restore as on glibc. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { apiClient } from "./support/api-client.ts";
import { chat } from "./support/chat.ts";
import { cookieOf, testPassword, withCookie } from "./support/dashboard.ts";
import { makePdf } from "./support/documents.ts";
import { runExecutable, startExecutable } from "./support/executable.ts";
import { type MockLlm, startMockLlm } from "./support/mock-llm.ts";
import { isOnMusl, linkMuslRuntime } from "./support/musl-runtime.ts";
import { receiveNotifications } from "./support/notify-receiver.ts";
import { rightsOf } from "./support/process-rights.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./support/temporary.ts";

const needed = {
  musl: "/lib/ld-musl-x86_64.so.1",
  binutils: "/usr/bin/ld",
  "libstdc++-12-pic": "/usr/lib/gcc/x86_64-linux-gnu/12/libstdc++_pic.a",
};
const email = "ada@example.com";

let dir: TemporaryDirectory;
let executable: string;
let env: Record<string, string>;
let mock: MockLlm;
beforeAll(async () => {
  const missing = Object.entries(needed).filter(([, file]) => !existsSync(file));
  if (missing.length > 0) throw new Error(`apt-get install ${missing.map(([name]) => name).join(" ")}`);
  dir = temporaryDirectory();
  executable = dir.file("companiond");
  const script = join(import.meta.dir, "../scripts/build.ts");
  const build = [process.execPath, script, "--executable-only", "--target", "linux-x64-musl", "--outfile", executable];
  const built = Bun.spawn(build, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const problem = await new Response(built.stderr).text();
  if ((await built.exited) !== 0) throw new Error(problem);
  linkMuslRuntime(executable, dir.file("lib"));
  mock = await startMockLlm();
  // By name, since looking names up is musl's own work.
  const OPENAI_BASE_URL = `${mock.url.replace("127.0.0.1", "localhost")}/v1`;
  env = { LD_LIBRARY_PATH: dir.file("lib"), OPENAI_BASE_URL, COMPANIOND_MODEL: "test-model" };
});
afterAll(async () => {
  await mock.close();
  dir[Symbol.dispose]();
});

async function run(dataDir: string, args: string[], input = "") {
  const done = await runExecutable([...args, "--data-dir", dataDir, "--json"], { executable, env, input });
  expect({ args, exitCode: done.exitCode, stderr: done.stderr }).toEqual({ args, exitCode: 0, stderr: "" });
  return JSON.parse(done.stdout);
}

test("tells systemd that it serves, and answers doctor", async () => {
  using receiver = receiveNotifications(dir.file("notify"));
  await using server = await startExecutable({ executable, env: { ...env, NOTIFY_SOCKET: dir.file("notify") } });
  await receiver.told("READY", "1");
  const { stdout } = await runExecutable(["doctor", "--data-dir", server.dataDir], { executable, env });
  expect(stdout).toMatch(new RegExp(`^ok {4}server +companiond \\S+ is running: pid ${server.pid},`));
  expect(await server.stop()).toBe(0);
  await receiver.told("STOPPING", "1");
});

test("reads a document without network and files", async () => {
  const pdf = makePdf([[["Words of a page", 10]]]);
  const { exitCode, stdout } = await runExecutable(["read-document", "pdf"], { executable, env, input: pdf });
  expect(exitCode).toBe(0);
  expect(stdout).toStartWith('{"is":"confined"}\n');
  expect(stdout).toContain("Words of a page");
});

test("prints its version", async () => {
  const { exitCode, stdout } = await runExecutable(["version", "--json"], { executable, env });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    version: expect.any(String),
    build: { bun: Bun.version, target: "linux-x64-musl" },
  });
});

test("serves, takes commands beside it, ends on SIGTERM, and goes on from its own backup", async () => {
  const dataDir = dir.file("data");
  await using server = await startExecutable({ executable, env, dataDir });
  expect(isOnMusl(server.pid)).toBe(true);
  await run(dataDir, ["account", "create", "--email", email, "--password-stdin"], testPassword);
  const scopes = "companions:read,companions:write,conversations:read";
  const { key } = await run(dataDir, ["key", "create", "--account", email, "--name", "test", "--scopes", scopes]);
  const { id, embed_token } = await run(dataDir, ["companion", "create", "--account", email, "--name", "Ada"]);
  const { call } = apiClient(server.url, key);
  expect((await call("PATCH", `/api/companions/${id}`, { metadata: { plan: "pro", user: { id: 42 } } })).status).toBe(
    200,
  );

  const response = await chat(server.url, embed_token, { message: "Grüße aus dem Süden" });
  expect(response).toMatchObject({ status: 200, text: "You said: Grüße aus dem Süden", isDone: true });
  const found = await call("GET", "/api/companions?metadata.plan=pro&metadata.user.id=42");
  expect(found.json.data.map((companion) => companion.id)).toEqual([id]);
  expect((await call("GET", "/api/companions?metadata.plan=free")).json.data).toEqual([]);
  const signIn = await apiClient(server.url, null).call("POST", "/api/session", { email, password: testPassword });
  expect(signIn.status).toBe(201);
  expect((await withCookie(server.url, cookieOf(signIn.headers)).call("GET", "/api/sessions")).status).toBe(200);
  const { checks } = JSON.parse(
    (await runExecutable(["doctor", "--json", "--data-dir", dataDir], { executable, env })).stdout,
  );
  // What reads documents inherits no environment, and so not the way to this test's own library.
  const failed = checks.filter(({ status }: { status: string }) => status === "fail");
  expect(failed.map(({ name }: { name: string }) => name)).toEqual(["documents"]);

  const file = dir.file("backup.db");
  await run(dataDir, ["backup", file]);
  expect(await server.stop()).toBe(0);
  expect(server.log.at(-1)?.event).toBe("stopped");

  const restoredDir = dir.file("restored");
  await run(restoredDir, ["restore", file]);
  await using again = await startExecutable({ executable, env, dataDir: restoredDir });
  const { data } = (await apiClient(again.url, key).call("GET", "/api/conversations")).json;
  expect(data).toMatchObject([{ companion_id: id, message_count: 2 }]);
  expect(await again.stop("SIGINT")).toBe(0);
});

test.skipIf(process.geteuid?.() !== 0)("root becomes the owner of the data directory in every thread", async () => {
  const [dataDir, service] = [dir.file("foreign"), 54_321];
  mkdirSync(dataDir, { mode: 0o700 });
  chmodSync(dir.path, 0o755);
  chownSync(dataDir, service, service);
  await run(dataDir, ["account", "create", "--email", email]);
  await using server = await startExecutable({ executable, env, dataDir });
  expect(rightsOf(server.pid)).toEqual([`${Array(4).fill(service)} ${Array(4).fill(service)} ${service}`]);
  const owners = readdirSync(dataDir).map((name) => statSync(join(dataDir, name)).uid);
  expect([...new Set(owners)]).toEqual([service]);
});

test("a hundred visitors at once are all answered", async () => {
  const limits = {
    COMPANIOND_RATE_PER_IP: "1000",
    COMPANIOND_RATE_PER_TOKEN: "1000",
    COMPANIOND_STREAMS_PER_IP: "1000",
  };
  await using server = await startExecutable({ executable, args: ["--demo"], env: { ...env, ...limits } });
  const [token] = await server.printed(/emb_[0-9A-Za-z]{32}/);
  const responses = await Promise.all(
    Array.from({ length: 100 }, (_, at) => chat(server.url, token, { message: `Visitor ${at} [[words:50]]` })),
  );
  expect(responses.filter(({ isDone }) => isDone)).toHaveLength(100);
  expect(server.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await server.stop()).toBe(0);
});
