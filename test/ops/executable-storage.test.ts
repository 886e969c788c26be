/** Storage that is full, missing or locked, and exhausted descriptors: reported honestly, and over with the cause. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "../support/executable.ts";

const env = {
  COMPANIOND_RATE_PER_IP: "1000000",
  COMPANIOND_STREAMS_PER_IP: "1000000",
  COMPANIOND_RATE_PER_TOKEN: "1000000",
  COMPANIOND_RATE_PER_KEY: "1000000",
};
const json = { "content-type": "application/json" };

interface Subject extends AsyncDisposable {
  server: RunningExecutable;
  /** The reply as it came over the wire. */
  chat(): Promise<string>;
  config(): Promise<number>;
  create(): Promise<{ status: number; body: string }>;
  ready(): Promise<number>;
  /** Sets a limit of the running process; `unlimited` removes it. */
  limit(resource: "fsize" | "nofile", value: string): void;
}

async function startSubject(): Promise<Subject> {
  const server = await startExecutable({ args: ["--demo"], env });
  const [token] = await server.printed(/emb_[0-9A-Za-z]{32}/);
  const dir = ["--data-dir", server.dataDir, "--json"];
  await runExecutable(["account", "create", "--email", "ada@example.com", ...dir]);
  const made = await runExecutable([
    ...["key", "create", "--account", "ada@example.com", "--name", "k"],
    ...["--scopes", "companions:read,companions:write", ...dir],
  ]);
  const authorization = `Bearer ${JSON.parse(made.stdout).key}`;
  return {
    server,
    async chat() {
      const body = JSON.stringify({ message: "Hello" });
      const response = await fetch(`${server.url}/api/embed/${token}/chat`, { method: "POST", headers: json, body });
      return await response.text();
    },
    config: async () => (await fetch(`${server.url}/api/embed/${token}`)).status,
    async create() {
      const headers = { ...json, authorization };
      const response = await fetch(`${server.url}/api/companions`, { method: "POST", headers, body: '{"name":"Ada"}' });
      return { status: response.status, body: await response.text() };
    },
    ready: async () => (await fetch(`${server.url}/readyz`)).status,
    limit(resource, value) {
      const done = Bun.spawnSync(["prlimit", `--${resource}=${value}:`, "--pid", String(server.pid)]);
      expect(done.exitCode).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
}

function expectWhole(dataDir: string): void {
  const database = new Database(join(dataDir, "companiond.db"), { readonly: true });
  expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  database.close();
}

test("a full disk: what can be read is served, nothing is acknowledged that is not kept, and it ends with the cause", async () => {
  await using subject = await startSubject();
  // To the program this is like a full disk: no file may grow, so every write fails.
  subject.limit("fsize", "4096");
  const refused = await subject.create();
  expect(refused.status).toBe(503);
  expect(JSON.parse(refused.body)).toMatchObject({ code: "unavailable" });
  const reply = await subject.chat();
  expect(reply).not.toContain("[DONE]");
  expect(reply).toEndWith(": error unavailable\n\n");
  expect(await subject.config()).toBe(200);

  subject.limit("fsize", "unlimited");
  expect((await subject.create()).status).toBe(201);
  expect(await subject.chat()).toEndWith("data: [DONE]\n\n");
  expect(await subject.server.stop()).toBe(0);
  expectWhole(subject.server.dataDir);
});

test("a data directory that is gone: 503, not ready, and all is well once it is back", async () => {
  await using subject = await startSubject();
  const { dataDir } = subject.server;
  expect(await subject.ready()).toBe(200);
  renameSync(dataDir, `${dataDir}-away`);
  expect((await subject.create()).status).toBe(503);
  expect(await subject.chat()).not.toContain("[DONE]");
  expect(await subject.ready()).toBe(503);
  expect((await fetch(`${subject.server.url}/healthz`)).status).toBe(200);

  renameSync(`${dataDir}-away`, dataDir);
  expect(await subject.ready()).toBe(200);
  expect((await subject.create()).status).toBe(201);
  expect(await subject.chat()).toEndWith("data: [DONE]\n\n");
});

test("a database that another program locks: reads go on, a write waits 5 s, then 503, and the next one works", async () => {
  await using subject = await startSubject();
  const other = new Database(join(subject.server.dataDir, "companiond.db"));
  // The server may be writing at this very moment.
  other.run("PRAGMA busy_timeout = 30000");
  other.run("BEGIN IMMEDIATE");
  const writing = subject.create();
  let isOver = false;
  const written = writing.then(({ status }) => {
    isOver = true;
    return status;
  });
  let reads = 0;
  for (; reads < 50 && !isOver; reads++) expect(await subject.config()).toBe(200);
  expect(reads).toBe(50);
  expect(await written).toBe(503);
  other.run("ROLLBACK");
  other.close();
  expect((await subject.create()).status).toBe(201);
  expect(await subject.chat()).toEndWith("data: [DONE]\n\n");
});

test("a lock that is released in time: the write waits for it and succeeds", async () => {
  await using subject = await startSubject();
  const other = new Database(join(subject.server.dataDir, "companiond.db"));
  // The server may be writing at this very moment.
  other.run("PRAGMA busy_timeout = 30000");
  other.run("BEGIN IMMEDIATE");
  const writing = subject.create();
  for (let i = 0; i < 20; i++) expect(await subject.config()).toBe(200);
  other.run("ROLLBACK");
  other.close();
  expect((await writing).status).toBe(201);
});

test("no descriptors left: open connections continue, new ones wait, and it ends with the cause", async () => {
  await using subject = await startSubject();
  const { hostname, port } = new URL(subject.server.url);
  // Below what is open already, so that nothing more can be opened.
  const socket = connect({ host: hostname, port: Number(port) });
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString();
  });
  const ask = () => socket.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  ask();
  await eventually(() => received.includes('"ok"'));
  subject.limit("nofile", "8");
  received = "";
  ask();
  await eventually(() => received.includes('"ok"'));
  const waiting = fetch(`${subject.server.url}/healthz`, { keepalive: false });
  subject.limit("nofile", "4096");
  // Whether it had to wait or was refused, the next one gets a response.
  await waiting.catch(() => {});
  await eventually(async () => (await fetch(`${subject.server.url}/healthz`, { keepalive: false })).status === 200);
  expect(await subject.chat()).toEndWith("data: [DONE]\n\n");
  socket.destroy();
  expect(await subject.server.stop()).toBe(0);
});
