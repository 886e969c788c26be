/** `companiond companion` and the demo companion, on a real database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ensureDemo } from "../../src/app/demo.ts";
import { demoEmail } from "../../src/domain/account.ts";
import { newCompanionSettings } from "../../src/domain/companion.ts";
import { makeEmbedToken } from "../../src/domain/credentials.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { testContext } from "../support/app.ts";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { openStoreBeside } from "../support/engine.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const dir = temporaryDirectory();
const options: CliOptions = { environment: { COMPANIOND_DATA_DIR: dir.path, COMPANIOND_MODELS: "gpt-5" } };
const email = "ada@shop.example";
afterAll(() => dir[Symbol.dispose]());

beforeAll(async () => {
  await runJson(["account", "create", "--email", email], options);
});

interface Made {
  id: string;
  embed_token: string;
}

async function create(...words: string[]): Promise<Made> {
  return (await runJson(["companion", "create", "--account", email, "--name", "Ada", ...words], options)) as Made;
}

test("creates a companion with only a name", async () => {
  expect(await create()).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "Ada",
    system_prompt: null,
    metadata: {},
    allowed_origins: [],
    enabled: true,
    embed_token: expect.stringMatching(/^emb_[0-9A-Za-z]{32}$/),
    created_by_key_id: null,
  });
});

test("sets every field that it has an option for", async () => {
  const made = await create(
    ...["--system-prompt", "Be kind.", "--greeting", "Hello", "--avatar-url", "https://shop.example/a.png"],
    ...["--theme-color", "#AABBCC", "--voice-id", "v1", "--model", "gpt-5", "--temperature", "0.5"],
    ...["--max-output-tokens", "100", "--context-tokens", "2000", "--metadata", '{"plan":"pro","n":1}'],
    ...["--allowed-origin", "https://Shop.example:443/", "--allowed-origin", "https://*.shop.example"],
    ...["--starter", "What?", "--starter", "How?", "--retention-days", "30", "--disabled"],
    ...["--visitor-auth", "required", "--daily-per-visitor", "20"],
  );
  expect(made).toMatchObject({
    system_prompt: "Be kind.",
    greeting: "Hello",
    avatar_url: "https://shop.example/a.png",
    theme_color: "#aabbcc",
    voice_id: "v1",
    model: "gpt-5",
    temperature: 0.5,
    max_output_tokens: 100,
    context_tokens: 2000,
    metadata: { plan: "pro", n: 1 },
    visitor_auth: "required",
    daily_per_visitor: 20,
    allowed_origins: ["https://shop.example", "https://*.shop.example"],
    starters: ["What?", "How?"],
    retention_days: 30,
    enabled: false,
  });
});

test("shows in its help what to write for each option, and what holds without it", async () => {
  const { stdout } = await runCommand(["companion", "create", "--help"]);
  for (const form of [
    "--theme-color <#rrggbb> ",
    "--avatar-url <url> ",
    "--voice-agent-id <id> ",
    "--allowed-origin <origin> ",
  ]) {
    expect(stdout).toContain(form);
  }
  expect(stdout).toMatch(/--context-tokens <number> .* From 1 to 10000000\. Not set: 8000\.$/m);
  expect(stdout).not.toContain("`");
});

test("refuses what the management API refuses, naming every field, and creates nothing", async () => {
  const before = await runJson(["companion", "list", "--account", email], options);
  const words = ["companion", "create", "--account", email, "--name", "Ada", "--theme-color", "red"];
  const { exitCode, stdout, stderr } = await runCommand(
    [...words, "--model", "other", "--allowed-origin", "shop.example"],
    options,
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  for (const field of ["theme_color:", "model:", "allowed_origins"]) expect(stderr).toContain(field);
  expect(await runJson(["companion", "list", "--account", email], options)).toEqual(before);
});

test.each([
  [["--temperature", "warm"], "--temperature must be a number."],
  [["--metadata", "[]"], "--metadata must be a JSON object."],
  [["--metadata", "{"], "--metadata must be a JSON object."],
])("refuses %j with exit code 2", async (words, sentence) => {
  const { exitCode, stderr } = await runCommand(
    ["companion", "create", "--account", email, "--name", "Ada", ...words],
    options,
  );
  expect(exitCode).toBe(2);
  expect(stderr).toContain(sentence);
});

test("lists all companions of the account, newest first, however many pages they are", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  await runJson(["account", "create", "--email", email], { environment });
  const store = await openStoreBeside(own.path);
  const account = await store.accounts.findByEmail(email);
  const many = Array.from({ length: 205 }, (_, index) => ({
    ...newCompanionSettings(`Companion ${index}`),
    id: systemIds.uuid(),
    createdByKeyId: null,
    embedToken: { id: systemIds.uuid(), token: makeEmbedToken(systemIds.secret) },
  }));
  await store.companions.createMany(account?.id ?? "", many, testContext());
  await store.close();

  const listed = (await runJson(["companion", "list", "--account", email], { environment })) as { id: string }[];
  expect(listed.map(({ id }) => id)).toEqual(many.map(({ id }) => id).reverse());
});

test("prints the embed token bare, the same one each time", async () => {
  const made = await create();
  const { stdout } = await runCommand(["companion", "token", made.id], options);
  expect(stdout).toBe(`${made.embed_token}\n`);
  expect(await runJson(["companion", "token", made.id], options)).toMatchObject({ token: made.embed_token });
});

test("reports an unknown companion id", async () => {
  const { exitCode, stderr } = await runCommand(["companion", "token", "nothing"], options);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("companion not found: nothing");
});

test("keeps one demo account and companion however often, and by however many processes at once, it is created", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  const store = await openStoreBeside(own.path);
  const first = await ensureDemo(store, systemIds, testContext);
  expect(await ensureDemo(store, systemIds, testContext)).toBe(first);
  const target = await store.companions.findByEmbedToken(first);
  expect(target?.companion.metadata).toEqual({ demo: true });

  // Restores what its owner may have changed.
  const { accountId, id } = target?.companion ?? { accountId: "", id: "" };
  await store.companions.update(accountId, id, { enabled: false }, testContext());
  await store.embedTokens.revoke(accountId, id, target?.tokenId ?? "", testContext());
  const renewed = await ensureDemo(store, systemIds, testContext);
  expect((await store.companions.findByEmbedToken(renewed))?.companion.id).toBe(id);
  await store.close();

  const accounts = await runJson(["account", "list"], { environment });
  expect(accounts).toMatchObject([{ email: demoEmail, role: "owner" }]);
  expect(await runJson(["companion", "list", "--account", demoEmail], { environment })).toHaveLength(1);
});
