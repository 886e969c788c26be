/** Links of members, by mail. */
import { expect, test } from "bun:test";
import { writeInvitation } from "../../src/core/mail/texts.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { startTestServer, testContext } from "../support/app.ts";
import { openDashboard } from "../support/dashboard.ts";
import { startSmtpServer } from "../support/smtp-server.ts";

test("an invitation is mailed, and later a link for a new password, each as the owner sees it", async () => {
  await using smtp = await startSmtpServer({});
  const server = await startTestServer({
    environment: {
      COMPANIOND_SMTP_URL: `smtp://localhost:${smtp.port}`,
      COMPANIOND_MAIL_FROM: "chat@shop.example",
      COMPANIOND_PUBLIC_URL: "https://chat.shop.example",
    },
  });
  const owner = await openDashboard(server, { email: "zoe@customer.example" });
  const sent = { email: "Grace@team.example", name: "Grace", role: "responder" };
  const made = await owner.call("POST", "/api/members", sent);
  await server.services.mail.whenIdle();
  expect(smtp.mails[0]?.to).toEqual(["grace@team.example"]);
  expect(smtp.mails[0]?.headers.get("subject")).toContain("zoe@customer.example invites you");
  expect(smtp.mails[0]?.body).toContain(`\n${made.json.url}\n`);

  const hash = sha256Hex(String(made.json.url).split("#")[1] ?? "");
  await server.services.store.sessions.spendInvitation(hash, "hash", testContext());
  const link = await owner.call("POST", `/api/members/${made.json.id}/link`);
  await server.services.mail.whenIdle();
  expect(smtp.mails[1]?.body).toContain("Choose a new password for grace@team.example here:");
  expect(smtp.mails[1]?.body).toContain(`\n${link.json.url}\n`);
  expect(server.log.text()).not.toMatch(/team\.example|app\/invitation/);
  await server.close();
});

test("a name with line breaks is one line of the mail, and of its subject", () => {
  const link = { url: "https://chat.shop.example/app", expiresAtMs: 0 };
  const { subject, text } = writeInvitation({ ...link, from: "Grace\r\nBcc: all@customer.example\n\nPay here" });
  expect(subject).toBe("Grace Bcc: all@customer.example Pay here invites you to their team");
  expect(text.split("\n")[0]).toContain("Pay here invites you");
});
