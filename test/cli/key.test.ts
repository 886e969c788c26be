/** `companiond key`, on a real database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { apiClient } from "../support/api-client.ts";
import { startTestServer } from "../support/app.ts";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { readStoredBytes } from "../support/stored-bytes.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const dir = temporaryDirectory();
const options: CliOptions = { environment: { COMPANIOND_DATA_DIR: dir.path } };
const email = "ada@shop.example";
afterAll(() => dir[Symbol.dispose]());

beforeAll(async () => {
  await runJson(["account", "create", "--email", email], options);
});

interface MadeKey extends Record<string, unknown> {
  id: string;
  key: string;
  expires_at: string | null;
}

async function createKey(...words: string[]): Promise<MadeKey> {
  const all = [
    "key",
    "create",
    "--account",
    email,
    "--name",
    "CRM",
    "--scopes",
    "usage:read,companions:read",
    ...words,
  ];
  return (await runJson(all, options)) as MadeKey;
}

test("creates a key with the documented fields, and keeps nothing of it but its hash and start", async () => {
  const made = await createKey();
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "CRM",
    start: made.key.slice(0, 13),
    last_four: made.key.slice(-4),
    scopes: ["companions:read", "usage:read"],
    expires_at: null,
    last_used_at: null,
    requests: 0,
    created_by_key_id: null,
    replaced_by_key_id: null,
    replaced_at: null,
    created_at: expect.any(String),
    key: expect.stringMatching(/^cmp_live_[0-9A-Za-z]{32}$/),
  });

  const stored = await readStoredBytes(dir.path);
  expect(stored.includes(made.key)).toBe(false);
  const hash = sha256Hex(made.key);
  expect(stored.includes(hash) || stored.includes(Buffer.from(hash, "hex").toString("latin1"))).toBe(true);
});

test("shows the key only once in text, and only its start in lists", async () => {
  const create = ["key", "create", "--account", email, "--name", "Text", "--scopes", "audit:read"];
  const { stdout } = await runCommand(create, options);
  const [key = ""] = stdout.split("\n");
  expect(key).toMatch(/^cmp_live_[0-9A-Za-z]{32}$/);
  for (const words of [["--json"], []]) {
    const listed = (await runCommand(["key", "list", "--account", email, ...words], options)).stdout;
    expect(listed).toContain(key.slice(0, 13));
    expect(listed).not.toContain(key);
  }
});

test("sets an end by duration or time", async () => {
  const inDays = await createKey("--expires", "90d");
  expect(Math.round((Date.parse(inDays.expires_at ?? "") - Date.now()) / 86_400_000)).toBe(90);
  expect((await createKey("--expires", "2999-01-01T00:00:00Z")).expires_at).toBe("2999-01-01T00:00:00.000Z");
});

test.each([
  [["--scopes", "companions:read,all"], 'unknown scope "all"'],
  [["--scopes", "companions:read,"], 'unknown scope ""'],
  [["--scopes", "usage:read", "--expires", "soon"], "--expires must be"],
  [["--scopes", "usage:read", "--expires", "2001-01-01"], "--expires must be"],
  [["--scopes", "usage:read", "--expires", "0d"], "--expires must be"],
  [["--scopes", "usage:read", "--grace", "1h"], "--grace needs --replaces"],
  [["--replaces", "x"], "--replaces needs --grace"],
  [["--replaces", "x", "--grace", "31d"], "--grace must be"],
  [["--replaces", "x", "--grace", "soon"], "--grace must be"],
])("refuses %j with exit code 2", async (words, sentence) => {
  const { exitCode, stdout, stderr } = await runCommand(
    ["key", "create", "--account", email, "--name", "x", ...words],
    options,
  );
  expect(stderr).toContain(sentence);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
});

test("refuses a name that is empty or too long", async () => {
  for (const name of ["   ", "x".repeat(101), "\ud800"]) {
    const words = ["key", "create", "--account", email, "--name", name, "--scopes", "usage:read"];
    const { exitCode, stderr } = await runCommand(words, options);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--name: Must be 1 to 100 characters");
  }
});

test("puts a key in another's place, which works on for its grace", async () => {
  const old = await createKey("--expires", "30d");
  const words = ["key", "create", "--replaces", old.id.toUpperCase(), "--grace", "1h"];
  const made = (await runJson(words, options)) as MadeKey;
  expect(made).toMatchObject({ name: "CRM", scopes: ["companions:read", "usage:read"], created_by_key_id: null });
  expect(Math.round((Date.parse(made.expires_at ?? "") - Date.now()) / 86_400_000)).toBe(30);
  const listed = (await runJson(["key", "list", "--account", email], options)) as MadeKey[];
  const replaced = listed.find(({ id }) => id === old.id);
  expect(replaced).toMatchObject({ replaced_by_key_id: made.id });
  expect(Date.parse(String(replaced?.expires_at)) - Date.parse(String(replaced?.["replaced_at"]))).toBe(3_600_000);

  const also = ["--account", email, "--name", "Next", "--scopes", "usage:read", "--expires", "2999-01-01T00:00:00Z"];
  const { stdout } = await runCommand(["key", "create", "--replaces", made.id, "--grace", "0", ...also], options);
  expect(stdout).toContain(`(${made["start"]}…${made["last_four"]}) is refused from now on.`);
  const after = (await runJson(["key", "list", "--account", email], options)) as MadeKey[];
  expect(after.map(({ id }) => id)).not.toContain(made.id);
  expect(after[0]).toMatchObject({ name: "Next", scopes: ["usage:read"], expires_at: "2999-01-01T00:00:00.000Z" });
  const gone = await runCommand(words.with(3, made.id), options);
  expect([gone.exitCode, gone.stderr]).toEqual([1, expect.stringContaining(`no active key with the id ${made.id}`)]);
});

test("revokes a key by its id, once", async () => {
  const { id } = await createKey();
  expect(await runJson(["key", "revoke", id.toUpperCase()], options)).toEqual({ id, revoked: true, also_revoked: [] });
  expect(JSON.stringify(await runJson(["key", "list", "--account", email], options))).not.toContain(id);
  const again = await runCommand(["key", "revoke", id], options);
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain(`no active key with the id ${id}`);
});

test("revokes the keys that a key made with it, and reports how many", async () => {
  const made = await createKey();
  const server = await startTestServer({ dataDir: dir.path });
  try {
    const sent = { name: "of the platform", scopes: ["usage:read"] };
    const account = await server.services.store.accounts.findByEmail(email);
    if (account === null) throw new Error("no account");
    const maker = await server.createKey(account);
    const child = (await apiClient(server.url, maker.key).call("POST", "/api/keys", sent)).json;
    const { stdout } = await runCommand(["key", "list", "--account", email], options);
    expect(stdout).toContain(`${child["start"]}…${child["last_four"]}`);

    const words = ["key", "revoke", maker.id];
    const revoked = await runCommand(words, options);
    expect(revoked.stdout).toContain("A key created with it ended too:");
    expect(revoked.stdout).toContain(`${child["start"]}…${child["last_four"]}  of the platform  ${child.id}`);
    expect((await apiClient(server.url, child.key).call("GET", "/api/usage")).status).toBe(401);
    const further = await server.createKey(account);
    const second = (await apiClient(server.url, further.key).call("POST", "/api/keys", sent)).json;
    expect(await runJson(["key", "revoke", further.id], options)).toEqual({
      id: further.id,
      revoked: true,
      also_revoked: [second.id],
    });
    const kept = (await runJson(["key", "list", "--account", email], options)) as { id: string }[];
    expect(kept.map(({ id }) => id)).toContain(made.id);
  } finally {
    await server.close();
  }
});

test("reports an unknown account", async () => {
  const { exitCode, stderr } = await runCommand(["key", "list", "--account", "nobody@shop.example"], options);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("account not found: nobody@shop.example");
});
