/** `companiond account`, on a real database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AuditEntry } from "../../src/contracts/store/store.ts";
import type { Account } from "../../src/domain/account.ts";
import { ownIdentity } from "../../src/domain/member.ts";
import { testContext } from "../support/app.ts";
import { type CliOptions, runCommand, runJson } from "../support/cli.ts";
import { openStoreBeside } from "../support/engine.ts";
import { firstPage } from "../support/store-world.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const dir = temporaryDirectory();
const options: CliOptions = { environment: { COMPANIOND_DATA_DIR: dir.path } };
afterAll(() => dir[Symbol.dispose]());

beforeAll(async () => {
  await runJson(["account", "create", "--email", "First@Shop.Example"], options);
});

test("creates an account with the documented fields, its address in lower case", async () => {
  const account = await runJson(
    ["account", "create", "--email", " Ada@Shop.Example ", "--plan", "paid", "--role", "operator"],
    options,
  );
  expect(account).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    email: "ada@shop.example",
    plan: "paid",
    role: "operator",
    suspended_at: null,
    has_totp: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test("refuses an address that is taken, in any case, with exit code 1", async () => {
  const { exitCode, stdout, stderr } = await runCommand(
    ["account", "create", "--email", "FIRST@shop.example"],
    options,
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("email: There is already an account with this address.");
  expect(stderr).not.toContain("UNIQUE");
});

test.each([
  [["--email", "nobody"], '"nobody" is not an e-mail address.'],
  [["--email", "a@b", "--plan", "gold"], "--plan must be one of free, paid."],
  [["--email", "a@b", "--role", "admin"], "--role must be one of owner, operator."],
])("refuses %j with exit code 2", async (words, sentence) => {
  const { exitCode, stderr } = await runCommand(["account", "create", ...words], options);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(sentence);
});

test("takes a password from standard input, with which the dashboard is set up", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  await runJson(["account", "create", "--email", "no-password@shop.example"], { environment });
  const link = await runCommand(["account", "setup-link"], { environment });
  expect(link.exitCode).toBe(0);

  const create = ["account", "create", "--email", "op@shop.example", "--role", "operator", "--password-stdin"];
  const short = await runCommand(create, { environment, input: "short\n" });
  expect(short).toMatchObject({ exitCode: 2, stdout: "" });
  expect(short.stderr).toContain("at least 10 characters");
  const common = await runCommand(create, { environment, input: "Password123\n" });
  expect(common).toMatchObject({ exitCode: 2, stdout: "" });
  expect(common.stderr).toContain("one of the most common passwords");

  const created = await runCommand(create, { environment, input: "correct horse battery\n" });
  expect(created).toMatchObject({ exitCode: 0, stderr: "" });
  expect(created.stdout).not.toContain("correct horse");

  const again = await runCommand(["account", "setup-link"], { environment });
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toContain("companiond account reset-link");
});

test("lists accounts as an array, oldest first, and as a table", async () => {
  const accounts = (await runJson(["account", "list"], options)) as { email: string }[];
  expect(accounts[0]?.email).toBe("first@shop.example");
  const { stdout } = await runCommand(["account", "list"], options);
  expect(stdout).toMatch(/^EMAIL +PLAN +ROLE +STATE +TOTP +CREATED +ID\nfirst@shop\.example +free +owner +active +no /);
});

test("says so if there are no accounts yet", async () => {
  using own = temporaryDirectory();
  await runJson(["account", "create", "--email", "gone@shop.example", "--data-dir", own.path]);
  await runJson(["account", "delete", "gone@shop.example", "--yes", "--data-dir", own.path]);
  const { stdout } = await runCommand(["account", "list", "--data-dir", own.path], {});
  expect(stdout).toBe("There are no accounts yet.\n");
});

test("changes the plan, suspends, resumes and deletes", async () => {
  const email = "change@shop.example";
  await runJson(["account", "create", "--email", email], options);
  expect(await runJson(["account", "set-plan", email, "paid"], options)).toMatchObject({ email, plan: "paid" });
  expect(await runJson(["account", "suspend", email], options)).toMatchObject({ suspended_at: expect.any(String) });
  expect(await runJson(["account", "resume", email], options)).toMatchObject({ suspended_at: null, plan: "paid" });
  expect(await runJson(["account", "delete", email, "--yes"], options)).toMatchObject({ email });

  const { exitCode, stderr } = await runCommand(["account", "set-plan", email, "free"], options);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`account not found: ${email}`);
});

test("asks before it deletes an account, and shows what goes with it", async () => {
  const email = "asked@shop.example";
  await runJson(["account", "create", "--email", email], options);
  for (const name of ["Ada", "Bob"]) {
    await runJson(["companion", "create", "--account", email, "--name", name], options);
  }
  const remove = ["account", "delete", email];
  const isThere = async () => {
    const accounts = (await runJson(["account", "list"], options)) as { email: string }[];
    return accounts.some((account) => account.email === email);
  };

  const alone = await runCommand(remove, options);
  expect(alone).toMatchObject({ exitCode: 2, stdout: "" });
  expect(alone.stderr).toContain(`this deletes ${email}`);
  expect(alone.stderr).toContain("--yes");
  for (const answer of ["", "y", "other@shop.example"]) {
    const refused = await runCommand(remove, { ...options, answer });
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toContain("with 2 companions and 0 API keys");
    expect(refused.stderr).toContain("nothing was deleted");
  }
  expect(await isThere()).toBe(true);
  const typed = await runCommand(remove, { ...options, answer: "Asked@shop.example " });
  expect(typed).toMatchObject({ exitCode: 0, stdout: `Deleted ${email} with everything it owned.\n` });
  expect(await isThere()).toBe(false);
});

test("makes reset links that keep their secret in the fragment, at the public address", async () => {
  const environment = { ...options.environment, COMPANIOND_PUBLIC_URL: "https://chat.example.com" };
  const link = await runJson(["account", "reset-link", "first@shop.example"], { environment });
  expect(link).toEqual({
    url: expect.stringMatching(/^https:\/\/chat\.example\.com\/app\/reset#[0-9A-Za-z]{43}$/),
    expires_at: expect.any(String),
  });
  const { stdout } = await runCommand(["account", "reset-link", "first@shop.example", "--data-dir", dir.path], {});
  expect(stdout).toStartWith("http://127.0.0.1:3000/app/reset#");
  expect(stdout).toContain(
    `No server is running in ${dir.path}. The link leads to the address in this command's settings.`,
  );
});

test("grants voice agents, lists them, and says which companions lose their voice with a grant", async () => {
  const email = "voice@shop.example";
  await runJson(["account", "create", "--email", email], options);
  const create = ["companion", "create", "--account", email, "--name", "Ada", "--voice-agent-id", "agent_1"];
  const early = await runCommand(create, options);
  expect(early.exitCode).toBe(1);
  expect(early.stderr).toContain("voice_agent_id: The account may not use this agent");

  const granted = { email, agent_id: "agent_1", companions: 0, created_at: expect.any(String) };
  expect(await runJson(["account", "grant-agent", email, "agent_1"], options)).toEqual(granted);
  const again = await runCommand(["account", "grant-agent", email, "agent_1"], options);
  expect(again).toMatchObject({ exitCode: 1, stdout: "" });
  expect(again.stderr).toContain("The account already has this agent.");
  expect((await runCommand(["account", "grant-agent", email, "two words"], options)).stderr).toContain("agent_id: ");
  await runJson(create, options);
  expect(await runJson(["account", "list-agents", email], options)).toMatchObject([
    { agent_id: "agent_1", companions: 1 },
  ]);

  const { stdout } = await runCommand(["account", "revoke-agent", email, "agent_1"], options);
  expect(stdout).toContain("The companion that uses it has no voice from now on.");
  const gone = await runCommand(["account", "revoke-agent", email, "agent_1"], options);
  expect(gone.exitCode).toBe(1);
  expect(gone.stderr).toContain(`${email} has no voice agent agent_1.`);
  expect((await runCommand(["account", "list-agents", email], options)).stdout).toContain("has no voice agents");
});
test("records every link in the account's audit log", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  const account = (await runJson(["account", "create", "--email", "ada@shop.example"], { environment })) as Account;
  await runJson(["account", "reset-link", "ada@shop.example"], { environment });
  expect(await readTrail(own.path, account.id)).toMatchObject([
    { action: "link.create", targetId: account.id, details: { kind: "reset" }, actor: { kind: "cli" } },
    { action: "account.create" },
  ]);
});

test("removes a second factor, and says so if there is none", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  const account = (await runJson(["account", "create", "--email", "ada@shop.example"], { environment })) as Account;
  const reset = ["account", "reset-totp", "ada@shop.example"];
  const none = await runCommand(reset, { environment });
  expect(none).toMatchObject({ exitCode: 1, stdout: "" });
  expect(none.stderr).toContain("ada@shop.example has no second factor.");

  const store = await openStoreBeside(own.path);
  await store.secondFactors.begin(ownIdentity(account.id), "sealed", testContext());
  const confirmation = { sealedSecret: "sealed", step: 1, recoveryHashes: ["hash"], keptSessionId: "" };
  await store.secondFactors.confirm(ownIdentity(account.id), confirmation, testContext());
  await store.close();
  expect(await runJson(["account", "list"], { environment })).toMatchObject([{ has_totp: true }]);
  expect(await runJson(reset, { environment })).toMatchObject({ email: "ada@shop.example", has_totp: false });
  expect(await runJson(["account", "list"], { environment })).toMatchObject([{ has_totp: false }]);
  expect((await readTrail(own.path, account.id))[0]).toMatchObject({ action: "totp.disable", actor: { kind: "cli" } });
});

test("makes links for members and removes their second factors, by their own address", async () => {
  using own = temporaryDirectory();
  const environment = { COMPANIOND_DATA_DIR: own.path };
  const account = (await runJson(["account", "create", "--email", "ada@shop.example"], { environment })) as Account;
  const store = await openStoreBeside(own.path);
  const identity = { accountId: account.id, memberId: "m1" };
  const member = { id: "m1", email: "grace@shop.example", name: "Grace", role: "owner", companionIds: null } as const;
  const link = { ...identity, hash: "first", kind: "invitation", expiresAt: 9e15 } as const;
  await store.members.create(account.id, member, link, testContext());
  const resetLink = ["account", "reset-link", "grace@shop.example"];
  expect((await runCommand(resetLink, { environment })).stderr).toContain("account not found: grace@shop.example");
  await store.sessions.spendInvitation("first", "hash", testContext());
  await store.secondFactors.begin(identity, "sealed", testContext());
  await store.close();
  expect(await runJson(resetLink, { environment })).toMatchObject({ url: expect.stringContaining("/app/invitation#") });
  const reset = ["account", "reset-totp", "grace@shop.example"];
  expect((await runCommand(reset, { environment })).exitCode).toBe(0);
  expect((await runCommand(reset, { environment })).stderr).toContain("grace@shop.example has no second factor.");
  expect((await readTrail(own.path, account.id)).slice(0, 2)).toMatchObject([
    { action: "totp.disable", targetId: "m1", actor: { kind: "cli" } },
    { action: "link.create", targetId: "m1", details: { kind: "invitation" } },
  ]);
});

async function readTrail(dataDir: string, accountId: string): Promise<AuditEntry[]> {
  const store = await openStoreBeside(dataDir);
  const { items } = await store.audit.list(accountId, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }, firstPage);
  await store.close();
  return items;
}
