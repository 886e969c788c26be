/** The shell lines of the documentation, run as they stand, from the first to the last of each page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { codeBlocks } from "../support/code-blocks.ts";
import { type RunningExecutable, runExecutable, startExecutable } from "../support/executable.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { startS3, type TestS3 } from "../support/s3.ts";
import { runPage } from "../support/shell-pages.ts";
import { startTestServers } from "../support/test-servers.ts";

/** Debian's, which the lines use. */
const programs = ["/usr/bin/age", "/usr/bin/curl", "/usr/bin/jq", "/usr/bin/openssl"];
const root = join(import.meta.dir, "../..");
const email = "you@example.com";
const sealingKey = Buffer.alloc(32, 7).toString("base64");

let llm: MockLlm;
let s3: TestS3;
let servers: AsyncDisposable;
const databases: string[] = [];
let server: RunningExecutable;
let key: string;
let companion: { id: string; embed_token: string };
beforeAll(async () => {
  servers = await startTestServers();
  s3 = await startS3();
  llm = await startMockLlm();
  server = await startExecutable({
    env: { OPENAI_BASE_URL: `${llm.url}/v1`, COMPANIOND_SECRET_KEY: sealingKey, COMPANIOND_RATE_PER_IP: "1000" },
  });
  await command("account", "create", "--email", email, "--role", "operator");
  const scopes = await Bun.file(join(root, "docs/api.md")).text();
  const [, all = ""] = /--scopes (\S+)/.exec(scopes) ?? [];
  ({ key } = JSON.parse(await command("key", "create", "--account", email, "--name", "k", "--scopes", all, "--json")));
  companion = JSON.parse(await command("companion", "create", "--account", email, "--name", "Ada", "--json"));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await llm.close();
  await s3[Symbol.asyncDispose]();
  const postgres = databasesOf(process.env["COMPANIOND_TEST_POSTGRES"] ?? "");
  for (const name of databases) await postgres.dropDatabase(name);
  await servers[Symbol.asyncDispose]();
});

async function command(...args: string[]): Promise<string> {
  const run = await runExecutable([...args, "--data-dir", server.dataDir]);
  if (run.exitCode !== 0) throw new Error(run.stderr);
  return run.stdout;
}

/** What stands in a page for something of the reader's own. */
const replace = () => ({
  "https://chat.example.com": server.url,
  "http://127.0.0.1:3000": server.url,
  "cmp_live_…": key,
  "emb_…": companion.embed_token,
  "01a2060e-…": companion.id,
});

interface Page {
  path: string;
  /** Puts there what the page begins with; returns what stands in it for something of the reader's own. */
  prepare?: (directory: string) => Promise<Record<string, string>>;
  /** What the reader has from elsewhere. */
  env?: () => Record<string, string>;
  replace?: Record<string, string>;
  /** What its lines print. */
  prints?: RegExp;
}

const pages: readonly Page[] = [
  { path: "CONTRIBUTING.md" },
  { path: "README.md", replace: { [email]: "reader@example.com" }, prints: /data: \[DONE\]/ },
  { path: "docs/api.md" },
  { path: "docs/backups.md", env: () => s3.environment, prints: /Uploaded companiond-.*\.db\.zst\.age/ },
  { path: "docs/challenge.md" },
  { path: "docs/commands.md", env: () => ({ PASSWORD: "correct horse battery" }) },
  { path: "docs/identity.md" },
  { path: "docs/knowledge-api.md", prints: /"score": \d/ },
  { path: "docs/leads.md", prints: /"first_answer_seconds":/ },
  { path: "docs/live.md", prepare: prepareConversation, prints: /"text":"Good day\."[\s\S]*"cursor":\d/ },
  { path: "docs/people-api.md", prepare: prepareConversation, prints: /"seq":\d/ },
  { path: "docs/people.md", prints: /"reopens_at":/ },
  { path: "docs/tools.md", prints: /"secret":"whsec_/ },
  { path: "docs/scaling.md", prepare: prepareMove },
  { path: "docs/versions.md", prints: /"began_version":\d/ },
  { path: "docs/voice.md" },
  { path: "docs/webhooks.md", prints: /^whsec_/m },
];

/** Run where their answers are tested, or where the servers that they start are. */
const elsewhere = [
  "deploy/README.md",
  "docs/companions-as-code.md",
  "docs/evals.md",
  "docs/operators.md",
  "docs/releases.md",
  "docs/resuming.md",
  "examples/as-code/README.md",
  "examples/evals/README.md",
  "examples/generated/README.md",
  "examples/inbox/README.md",
  "examples/platform/README.md",
  "examples/proxy/README.md",
  "examples/relay/README.md",
  "examples/signed-in/README.md",
  "examples/tools/README.md",
  "examples/webhooks/README.md",
];

/** A conversation whose visitor has asked for a person, and that someone has had. */
async function prepareConversation(): Promise<Record<string, string>> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${server.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return await response.text();
  };
  const session_id = "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10";
  await call("PATCH", `/api/companions/${companion.id}`, { handoff: { when: "always" } });
  await call("POST", `/api/embed/${companion.embed_token}/chat`, { message: "Hello", session_id });
  await call("POST", `/api/embed/${companion.embed_token}/person`, { session_id });
  const [{ id }] = JSON.parse(await call("GET", `/api/companions/${companion.id}/conversations`)).data;
  const as = { name: "Bo" };
  await call("POST", `/api/conversations/${id}/messages`, { text: "Good day.", client_id: crypto.randomUUID(), as });
  await call("POST", `/api/conversations/${id}/release`, { as });
  return {};
}

/** A server that has been running on the embedded database, PostgreSQL, and the settings of the page's second step. */
async function prepareMove(directory: string): Promise<Record<string, string>> {
  await command("backup", join(directory, "last.db"));
  await runExecutable(["restore", join(directory, "last.db"), "--data-dir", join(directory, "data")]);
  const postgres = databasesOf(process.env["COMPANIOND_TEST_POSTGRES"] ?? "");
  const { name, url } = await postgres.createDatabase();
  const restored = `restored_${name}`;
  databases.push(name, restored);
  await Bun.write(
    join(directory, "companiond.env"),
    `DATABASE_URL=${url}\nCOMPANIOND_SECRET_KEY=${sealingKey}\nCOMPANIOND_PUBLIC_URL=https://chat.example.com\n`,
  );
  const { hostname, port, username } = new URL(url);
  return {
    "--host=db.example.com --username=companiond": `--host=${hostname} --port=${port} --username=${username}`,
    "companiond.dump companiond\n": `companiond.dump ${name}\n`,
    " restored\n": ` ${restored}\n`,
    "=restored ": `=${restored} `,
  };
}

test("no page with shell lines is left out", async () => {
  const found: string[] = [];
  const places = ["*.md", "docs/**/*.md", "examples/**/*.md", "deploy/**/*.md"];
  for (const path of places.flatMap((place) => [...new Glob(place).scanSync({ cwd: root })])) {
    if (codeBlocks(await Bun.file(join(root, path)).text(), "sh").length > 0) found.push(path);
  }
  expect(found.sort()).toEqual([...pages.map(({ path }) => path), ...elsewhere].sort());
});

for (const { path, env, prints, prepare, ...page } of pages) {
  test(`the lines of ${path} run as they stand`, async () => {
    const world = {
      dataDir: server.dataDir,
      env: env?.() ?? {},
      replace: { ...replace(), ...page.replace },
      ...(prepare === undefined ? {} : { prepare }),
    };
    const run = await runPage(path, world);
    expect(run.exitCode === 0 ? "" : `${run.stdout}\n${run.stderr}`).toBe("");
    if (prints !== undefined) expect(run.stdout).toMatch(prints);
  });
}

test("the programs that the lines use are there", () => {
  for (const program of programs) expect(Bun.which(program)).toBe(program);
});
