/** The key behind sealed secrets: made when it is needed, and missed when it is gone. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openServices } from "../src/app/services.ts";
import { loadConfig } from "../src/config/config.ts";
import { ownIdentity } from "../src/domain/member.ts";
import { createSqlite } from "../src/engines/sqlite/sqlite.ts";
import { makeSealingKey } from "../src/lib/sealing.ts";
import { testContext } from "./support/app.ts";
import { createCapturedLog } from "./support/captured-log.ts";
import { runCommand } from "./support/cli.ts";
import { newCompanion } from "./support/store-world.ts";
import { newTool } from "./support/stored-tool.ts";
import { temporaryDirectory } from "./support/temporary.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let keyFile: string;
beforeEach(() => {
  directory = temporaryDirectory();
  keyFile = join(directory.path, "secret.key");
});
afterEach(() => directory[Symbol.dispose]());

function open(environment: Record<string, string> = {}) {
  const config = loadConfig({ environment: { COMPANIOND_DATA_DIR: directory.path, ...environment } });
  return openServices(config, { log: createCapturedLog() });
}

/** Seals a second factor for a new account, and leaves it in the database. */
async function sealSomething(environment: Record<string, string> = {}, email = "ada@shop.example"): Promise<string> {
  const services = await open(environment);
  const id = services.ids.uuid();
  await services.store.accounts.create({ id, email, plan: "free", role: "owner", passwordHash: null }, testContext());
  const sealed = await services.sealing.seal(`totp:${id}`, "a secret");
  await services.store.secondFactors.begin(ownIdentity(id), sealed, testContext());
  await services.close();
  return id;
}

test("an installation that seals nothing has no key", async () => {
  await (await open()).close();
  expect(existsSync(keyFile)).toBe(false);
});

test("the key is made with the first secret, for its owner alone, and opens it ever after", async () => {
  const id = await sealSomething();
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(readFileSync(keyFile, "utf8")).toMatch(/^[\w+/]{43}=\n$/);
  expect(readdirSync(directory.path).filter((name) => name.includes("partial"))).toEqual([]);
  const services = await open();
  const factor = await services.store.secondFactors.find(ownIdentity(id));
  expect(await services.sealing.open(`totp:${id}`, factor?.sealedSecret ?? "")).toBe("a secret");
  await services.close();
});

test("two processes that need it at once have one key", async () => {
  const [one, two] = [await open(), await open()];
  const [a, b] = await Promise.all([one.sealing.seal("n", "from one"), two.sealing.seal("n", "from two")]);
  expect([await one.sealing.open("n", b), await two.sealing.open("n", a)]).toEqual(["from two", "from one"]);
  await one.close();
  await two.close();
});

test("the key of the environment leaves no file", async () => {
  const environment = { COMPANIOND_SECRET_KEY: makeSealingKey() };
  await sealSomething(environment);
  expect(existsSync(keyFile)).toBe(false);
  await (await open(environment)).close();
});

describe("the server does not start", () => {
  const refusal = (environment = {}) =>
    open(environment).then(
      async (services) => {
        await services.close();
        return "it started";
      },
      (error: Error) => error.message,
    );

  test("where the key's file is gone, and says which, whose, and what to do", async () => {
    await sealSomething();
    rmSync(keyFile);
    const sentence = await refusal();
    expect(sentence).toContain(`${keyFile} is missing, and COMPANIOND_SECRET_KEY is not set`);
    expect(sentence).toContain(
      '"companiond account reset-totp <email>" for each account that has second factors (ada@shop.example)',
    );
    expect(existsSync(keyFile)).toBe(false);
  });

  test("where there are, or were, visitor keys, until those are given up", async () => {
    const services = await open();
    const id = services.ids.uuid();
    const account = { id, email: "eve@shop.example", plan: "free", role: "owner", passwordHash: null } as const;
    await services.store.accounts.create(account, testContext());
    const sealed = await services.sealing.seal("visitor key", "a secret");
    const key = { id: services.ids.uuid(), name: "shop", algorithm: "HS256", metadata: null, sealed } as const;
    await services.store.visitorKeys.create(id, { ...key, createdAt: 1 }, testContext());
    // What a revoked key has verified is still sealed in conversations.
    await services.store.visitorKeys.revoke(id, key.id, testContext());
    await services.close();
    await sealSomething();
    writeFileSync(keyFile, makeSealingKey());
    expect(await refusal()).toBe(
      `the second factors and the visitor keys in the database cannot be opened: ${keyFile} is not the key that sealed ` +
        'them. Put the key back. If it is lost, run "companiond account reset-totp <email>" for each account that has second ' +
        'factors (ada@shop.example), and "companiond account reset-visitor-keys <email> --yes" for each account that has ' +
        "visitor keys (eve@shop.example); they are set up again then.",
    );
    const run = (words: string[]) =>
      runCommand(["account", ...words], { environment: { COMPANIOND_DATA_DIR: directory.path } });
    await run(["reset-totp", "ada@shop.example"]);
    expect(await refusal()).toMatch(/^the visitor keys in the database cannot be opened/);
    const unsure = await run(["reset-visitor-keys", "eve@shop.example"]);
    expect(unsure).toMatchObject({ exitCode: 2, stdout: "" });
    expect(unsure.stderr).toContain("Add --yes to do it.");
    expect(await refusal()).toMatch(/^the visitor keys/);
    const sure = await run(["reset-visitor-keys", "eve@shop.example", "--yes"]);
    expect(sure).toMatchObject({
      exitCode: 0,
      stdout: "eve@shop.example has no visitor keys any more, and can create new ones.\n",
    });
    await (await open()).close();
  });

  test("where companions have tools, until those are given up", async () => {
    const services = await open();
    const id = services.ids.uuid();
    const account = { id, email: "eve@shop.example", plan: "free", role: "owner", passwordHash: null } as const;
    await services.store.accounts.create(account, testContext());
    const companion = await services.store.companions.create(id, newCompanion(), testContext());
    const sealedSecret = await services.sealing.seal("tool", "a secret");
    await services.store.tools.create(id, newTool(companion.id, 1, { sealedSecret }), testContext());
    await services.close();
    expect(createSqlite(directory.path).inspectStored?.()).toMatchObject({ hasSealed: true, hasSealedWords: false });
    rmSync(keyFile);
    expect(await refusal()).toContain(
      '"companiond account reset-tools <email> --yes" for each account that has tools (eve@shop.example)',
    );
    const run = (...words: string[]) =>
      runCommand(["account", "reset-tools", "eve@shop.example", ...words], {
        environment: { COMPANIOND_DATA_DIR: directory.path },
      });
    expect(await run()).toMatchObject({ exitCode: 2, stdout: "" });
    expect(await refusal()).toContain("the tools in the database cannot be opened");
    expect(await run("--yes")).toMatchObject({
      exitCode: 0,
      stdout: "The companions of eve@shop.example have no tools any more, and can get new ones.\n",
    });
    await (await open()).close();
  });

  test("where there are webhooks, whose secrets are sealed, until those are given up", async () => {
    const services = await open();
    const id = services.ids.uuid();
    const account = { id, email: "eve@shop.example", plan: "free", role: "owner", passwordHash: null } as const;
    await services.store.accounts.create(account, testContext());
    const sealedSecret = await services.sealing.seal("webhook", "a secret");
    const webhook = { id: services.ids.uuid(), url: "https://hooks.example/", events: ["*"], sealedSecret } as const;
    const others = { includeContent: false, metadata: null, enabled: false };
    await services.store.webhooks.create(id, { ...webhook, ...others }, testContext());
    const mail = { id: services.ids.uuid(), accountId: id, companionId: null, conversationId: null, memberId: null };
    const times = { createdAtMs: 1, dueAtMs: 9e15, expiresAtMs: null };
    await services.store.mails.add({ ...mail, ...times, kind: "answer", sealed: "sealed" });
    await services.close();
    expect(createSqlite(directory.path).inspectStored?.()).toMatchObject({ hasSealed: true, hasSealedWords: true });
    writeFileSync(keyFile, makeSealingKey());
    expect(await refusal()).toContain(
      '"companiond account reset-webhooks <email> --yes" for each account that has webhooks (eve@shop.example)',
    );
    const run = (words: string[]) =>
      runCommand(["account", ...words], { environment: { COMPANIOND_DATA_DIR: directory.path } });
    expect((await run(["reset-webhooks", "eve@shop.example"])).exitCode).toBe(2);
    expect(await run(["reset-webhooks", "eve@shop.example", "--yes"])).toMatchObject({
      exitCode: 0,
      stdout: "eve@shop.example has no webhooks any more, and can create new ones.\n",
    });
    await (await open()).close();
  });

  test("with another key, or none at all", async () => {
    await sealSomething();
    expect(await refusal({ COMPANIOND_SECRET_KEY: makeSealingKey() })).toContain(
      "COMPANIOND_SECRET_KEY is not the key that sealed them",
    );
    writeFileSync(keyFile, makeSealingKey());
    expect(await refusal()).toContain(`${keyFile} is not the key that sealed them`);
    writeFileSync(keyFile, "not a key");
    expect(await refusal()).toContain(`${keyFile} does not contain 32 bytes in base64`);
  });

  test("until what was sealed is given up; then there is a new key", async () => {
    const id = await sealSomething();
    rmSync(keyFile);
    expect(await refusal()).toContain("reset-totp");
    const config = loadConfig({ environment: { COMPANIOND_DATA_DIR: directory.path } });
    const { openStore } = await import("../src/app/services.ts");
    const store = await openStore(config, { log: createCapturedLog() });
    await store.secondFactors.remove(ownIdentity(id), testContext());
    await store.close();
    await sealSomething({}, "ben@shop.example");
    await (await open()).close();
  });
});

test("a malformed key is a problem of the configuration, and is not quoted", () => {
  const environment = { COMPANIOND_SECRET_KEY: "hunter2hunter2" };
  expect(() => loadConfig({ environment })).toThrow(/^COMPANIOND_SECRET_KEY must be 32 bytes in base64/);
  expect(() => loadConfig({ environment })).not.toThrow(/hunter2/);
});

test("doctor tells of a key that is missing, that it may not read, and that does not open what is sealed", async () => {
  const look = async (environment: Record<string, string> = {}) => {
    const settings = { COMPANIOND_DATA_DIR: directory.path, PORT: "0", ...environment };
    const { stdout } = await runCommand(["doctor", "--json"], { environment: settings });
    const checks: { name: string; status: string; detail: string }[] = JSON.parse(stdout).checks;
    const found = checks.find(({ name }) => name === "secret key");
    return `${found?.status} ${found?.detail}`;
  };
  await (await open()).close();
  expect(await look()).toBe("ok Nothing in the database is sealed yet.");
  await sealSomething();
  expect(await look()).toBe(`ok ${keyFile} opens what is sealed.`);
  const wrong = "fail The secrets in the database cannot be opened:";
  expect(await look({ COMPANIOND_SECRET_KEY: makeSealingKey() })).toStartWith(`${wrong} COMPANIOND_SECRET_KEY is not`);
  writeFileSync(keyFile, "short");
  expect(await look()).toBe(`${wrong} ${keyFile} does not contain 32 bytes in base64.`);
  rmSync(keyFile);
  expect(await look()).toStartWith(`${wrong} ${keyFile} is missing`);
  expect(Bun.spawnSync(["mkfifo", keyFile]).exitCode).toBe(0);
  expect(await look()).toBe(`${wrong} ${keyFile} is not a regular file.`);
});
