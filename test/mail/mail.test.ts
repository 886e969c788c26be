/** Mail from the request that causes it to the server that takes it, over failures and restarts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mailTries } from "../../src/domain/mail.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/app.ts";
import { chat } from "../support/chat.ts";
import { runCommand, runJson } from "../support/cli.ts";
import { openDashboard } from "../support/dashboard.ts";
import { dropEngineDatabase, engineEnvironment } from "../support/engine.ts";
import { eventually, inTime } from "../support/eventually.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { type SmtpChoices, type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const publicUrl = "https://chat.shop.example";
const environmentOf = (smtp: SmtpServer) => ({
  COMPANIOND_SMTP_URL: `smtp://mailer:hunter2@localhost:${smtp.port}`,
  COMPANIOND_MAIL_FROM: "Shop <chat@shop.example>",
  COMPANIOND_PUBLIC_URL: publicUrl,
});
const signIn = { user: "mailer", password: "hunter2" };

async function openWorld(choices: SmtpChoices = {}, options: TestServerOptions = {}) {
  const smtp = await startSmtpServer({ signIn, ...choices });
  const server = await startTestServer({ ...options, environment: { ...environmentOf(smtp), ...options.environment } });
  const account = await server.createAccount({ email: "zoe@customer.example" });
  const remind = (expiresAtMs: number | null = null) =>
    server.services.mail.send({
      ...{ accountId: account.id, kind: "reset_link", expiresAtMs },
      content: { to: account.email, from: account.email, path: "/app/reset#secret", expiresAtMs: 0 },
    });
  return {
    ...{ smtp, server, account, remind },
    /** Lets everything happen that is due. */
    async settle() {
      server.services.mail.wake();
      await server.services.mail.whenIdle();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await smtp[Symbol.asyncDispose]();
    },
  };
}

const outcomes = ({ services }: TestServer) => services.measurements.mails;
const idsOf = (smtp: SmtpServer) => smtp.mails.map(({ headers }) => headers.get("message-id"));

describe("a server with a mail server", () => {
  let world: Awaited<ReturnType<typeof openWorld>>;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("mails a reset link that an operator makes to the account's owner, and logs neither", async () => {
    const { server, smtp, account, settle } = world;
    const operator = await openDashboard(server, { role: "operator" });
    const made = await operator.call("POST", `/api/accounts/${account.id}/reset-link`);
    expect(made.status).toBe(201);
    await settle();
    const [mail] = smtp.mails;
    expect(mail?.to).toEqual(["zoe@customer.example"]);
    expect(mail?.headers.get("subject")).toBe("Choose a new password");
    expect(mail?.body).toContain(`\n${made.json.url}\n`);
    expect(made.json.url).toStartWith(`${publicUrl}/app/reset#`);
    expect(outcomes(server)).toEqual({ sent: 1, failed: 0, dropped: 0 });
    expect(server.log.text()).toContain("mail sent");
    expect(server.log.text()).not.toMatch(/customer\.example|hunter2|app\/reset/);
    expect(await server.services.store.mails.findNextDue()).toBeNull();
  });

  test("shows what became of mail in its metrics", async () => {
    const token = { COMPANIOND_METRICS_TOKEN: "metrics" };
    await using other = await openWorld({}, { environment: token });
    await other.remind();
    await other.settle();
    const response = await fetch(`${other.server.url}/metrics`, { headers: { authorization: "Bearer metrics" } });
    expect(await response.text()).toContain('companiond_mails_total{outcome="sent"} 1');
  });
});

test("a server without a mail server keeps no mail, and makes links as before", async () => {
  const server = await startTestServer({ environment: { COMPANIOND_PUBLIC_URL: publicUrl } });
  const account = await server.createAccount();
  const operator = await openDashboard(server, { role: "operator" });
  expect((await operator.call("POST", `/api/accounts/${account.id}/reset-link`)).status).toBe(201);
  expect(server.services.mail.isOn).toBe(false);
  expect(await server.services.store.mails.findNextDue()).toBeNull();
  await server.close();
});

test("a server that does not know its address mails no link: nobody would know where it leads", async () => {
  await using world = await openWorld({}, { environment: { COMPANIOND_PUBLIC_URL: "" } });
  const operator = await openDashboard(world.server, { role: "operator" });
  expect((await operator.call("POST", `/api/accounts/${world.account.id}/reset-link`)).status).toBe(201);
  await world.settle();
  expect(world.smtp.mails).toEqual([]);
});

test("a link that a command makes is mailed by the server", async () => {
  using directory = temporaryDirectory();
  await using smtp = await startSmtpServer({ signIn });
  const environment = { ...environmentOf(smtp), COMPANIOND_DATA_DIR: directory.path };
  await runJson(["account", "create", "--email", "zoe@customer.example"], { environment });
  const { stdout } = await runCommand(["account", "reset-link", "zoe@customer.example"], { environment });
  expect(stdout).toContain("The running server sends it to zoe@customer.example as well.");
  const server = await startTestServer({ dataDir: directory.path, environment });
  await eventually(() => smtp.mails.length === 1);
  expect(smtp.mails[0]?.body).toContain(stdout.split("\n")[0] ?? "nothing");
  await server.close();
  await dropEngineDatabase(directory.path);
});

describe("a mail that is not taken", () => {
  test("is tried six times within six hours, with one Message-ID and one date, and then given up", async () => {
    const clock = createManualClock(Date.UTC(2026, 10, 27, 9));
    await using world = await openWorld({ replies: { END: "451 4.3.0 later" } }, { clock });
    const { server, smtp } = world;
    await world.remind();
    const startMs = clock.nowMs();
    const triedAt: number[] = [];
    for (let tries = 0; clock.nowMs() <= startMs + 8 * 60 * 60_000; clock.advance(60_000)) {
      await world.settle();
      const now = smtp.lines.filter((line) => line === "DATA").length;
      if (now > tries) triedAt.push((clock.nowMs() - startMs) / 60_000);
      tries = now;
    }
    expect(triedAt).toEqual([0, 1, 6, 36, 156, 360]);
    const ids = smtp.lines.filter((line) => /^Message-ID:/i.test(line));
    expect(ids).toHaveLength(mailTries);
    expect(new Set(ids).size).toBe(1);
    expect(new Set(smtp.lines.filter((line) => /^Date:/i.test(line))).size).toBe(1);
    expect(outcomes(server)).toEqual({ sent: 0, failed: 1, dropped: 0 });
    const failed = server.log.events.find(({ event }) => event === "mail failed");
    expect(failed?.fields).toMatchObject({
      kind: "reset_link",
      tries: 6,
      problem: expect.stringContaining("451 4.3.0"),
    });
    expect(JSON.stringify(server.log.events)).not.toContain("customer.example");
  });

  test("arrives once it is taken", async () => {
    const clock = createManualClock();
    await using world = await openWorld({ replies: { RCPT: "450 4.2.1 greylisted" } }, { clock });
    await world.remind();
    await world.settle();
    world.smtp.choices.replies = {};
    clock.advance(60_000);
    await world.settle();
    expect(idsOf(world.smtp)).toHaveLength(1);
    expect(outcomes(world.server)).toEqual({ sent: 1, failed: 0, dropped: 0 });
  });

  test("is given up at the first 5xx", async () => {
    await using world = await openWorld({ replies: { RCPT: "550 5.1.1 <zoe@customer.example> unknown" } });
    await world.remind();
    await world.settle();
    expect(outcomes(world.server)).toEqual({ sent: 0, failed: 1, dropped: 0 });
    expect(await world.server.services.store.mails.findNextDue()).toBeNull();
    expect(JSON.stringify(world.server.log.events)).not.toContain("zoe");
  });

  test("is given up when nobody needs it any more", async () => {
    const clock = createManualClock();
    await using world = await openWorld({ replies: { RCPT: "450 4.2.1 greylisted" } }, { clock });
    await world.remind(clock.nowMs() + 30 * 60_000);
    for (const minutes of [0, 1, 5]) {
      clock.advance(minutes * 60_000);
      await world.settle();
    }
    // The next try would come after the link's end.
    expect(outcomes(world.server)).toEqual({ sent: 0, failed: 1, dropped: 0 });
  });
});

test("a mail server that hangs holds up neither a chat nor the shutdown, and gets the mail after the restart with the same Message-ID", async () => {
  using directory = temporaryDirectory();
  await using smtp = await startSmtpServer({ replies: { END: "" } });
  const environment = { ...environmentOf(smtp), COMPANIOND_SMTP_URL: `smtp://localhost:${smtp.port}` };
  const server = await startTestServer({ dataDir: directory.path, environment });
  const companion = await server.createCompanion();
  const content = { to: "zoe@customer.example", from: "zoe", path: "/app/reset#x", expiresAtMs: 0 };
  for (let at = 0; at < 5; at++) {
    await server.services.mail.send({ accountId: companion.accountId, kind: "reset_link", content });
  }
  const texts = () => smtp.lines.filter((line) => line === ".").length;
  await eventually(() => texts() === 2);
  expect((await chat(server.url, companion.embedToken, { message: "hello" })).status).toBe(200);
  // No more than two beside each other.
  expect(texts()).toBe(2);
  // Before the try itself would be given up.
  await inTime(server.services.close(), { what: "the server to close", withinMs: 20_000 });
  const before = smtp.lines.filter((line) => /^Message-ID:/i.test(line));

  smtp.choices.replies = {};
  const clock = { ...systemClock, nowMs: () => Date.now() + 61_000 };
  const next = await startTestServer({ dataDir: directory.path, clock, environment });
  await eventually(() => smtp.mails.length === 5);
  const ids = new Set(idsOf(smtp));
  expect(ids.size).toBe(5);
  for (const line of before) expect(ids).toContain(line.slice("Message-ID: ".length));
  await next.close();
  await server.close();
  await dropEngineDatabase(directory.path);
});

test("what a killed server had kept is sent by the next, with the same Message-ID", async () => {
  using directory = temporaryDirectory();
  await using smtp = await startSmtpServer({ replies: { END: "" } });
  const environment = { ...environmentOf(smtp), COMPANIOND_SMTP_URL: `smtp://localhost:${smtp.port}` };
  const options = { environment: { ...environment, COMPANIOND_DATA_DIR: directory.path } };
  await runJson(["account", "create", "--email", "zoe@customer.example"], options);
  await runJson(["account", "reset-link", "zoe@customer.example"], options);
  const child = Bun.spawn([process.execPath, "test/support/server-process.ts"], {
    env: { ...options.environment, COMPANIOND_LOG: "error", ...(await engineEnvironment(directory.path)) },
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
  await eventually(() => smtp.lines.includes("."));
  child.kill("SIGKILL");
  await child.exited;
  const [first] = smtp.lines.filter((line) => /^Message-ID:/i.test(line));

  smtp.choices.replies = {};
  const clock = { ...systemClock, nowMs: () => Date.now() + 61_000 };
  const server = await startTestServer({ dataDir: directory.path, clock, environment });
  await eventually(() => smtp.mails.length === 1);
  expect(first).toEndWith(idsOf(smtp)[0] ?? "nothing");
  await server.close();
  await dropEngineDatabase(directory.path);
});
