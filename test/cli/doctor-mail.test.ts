/** What doctor makes of a mail server, and of one that does not let it in. */
import { expect, test } from "bun:test";
import { examineMail } from "../../src/cli/doctor/small-checks.ts";
import { loadConfig } from "../../src/config/config.ts";
import { findFreePort } from "../support/free-port.ts";
import { startSmtpServer } from "../support/smtp-server.ts";

const signIn = { user: "mailer", password: "hunter2" };

function examine(url: string) {
  return examineMail(
    loadConfig({ environment: { COMPANIOND_SMTP_URL: url, COMPANIOND_MAIL_FROM: "chat@shop.example" } }),
  );
}

test("says nothing where no mail is sent", async () => {
  expect(await examineMail({ mail: null })).toEqual([]);
});

test("signs in and sends nothing", async () => {
  await using server = await startSmtpServer({ signIn });
  expect(await examine(`smtp://mailer:hunter2@localhost:${server.port}`)).toEqual([
    { name: "mail", status: "ok", detail: `localhost:${server.port} lets the server sign in.`, advice: null },
  ]);
  expect(server.mails).toEqual([]);
});

test("says what to change where it is not let in, not trusted or not answered, without the password", async () => {
  await using server = await startSmtpServer({ signIn });
  await using encrypted = await startSmtpServer({ signIn, tls: "implicit" });
  const findings = [
    ...(await examine(`smtp://mailer:hunter2%21@localhost:${server.port}`)),
    ...(await examine(`smtps://mailer:hunter2@localhost:${encrypted.port}`)),
    ...(await examine(`smtps://mailer:hunter2@localhost:${findFreePort()}`)),
  ];
  expect(findings).toMatchObject([
    { status: "fail", detail: expect.stringContaining("535"), advice: expect.stringContaining("user and password") },
    {
      status: "fail",
      detail: expect.stringContaining("not trusted"),
      advice: expect.stringContaining("NODE_EXTRA_CA"),
    },
    { status: "fail", detail: expect.stringContaining("refuses connections"), advice: expect.stringContaining("port") },
  ]);
  expect(JSON.stringify(findings)).not.toContain("hunter2");
});
