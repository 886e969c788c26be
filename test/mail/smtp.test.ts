/** The engine for mail servers, against a server on loopback that behaves and misbehaves. */
import { describe, expect, test } from "bun:test";
import { MailFailure, type MailLocation, type MailMessage } from "../../src/contracts/mail.ts";
import { createSmtp } from "../../src/engines/smtp/smtp.ts";
import { eventually } from "../support/eventually.ts";
import { type SmtpChoices, type SmtpServer, smtpAuthority, startSmtpServer } from "../support/smtp-server.ts";

const signIn = { user: "mailer", password: "p@ss wörd/%" };
const never = new AbortController().signal;
const message: MailMessage = {
  id: "0198f0a0-0000-7000-8000-000000000001",
  from: { name: "Shop", address: "chat@shop.example" },
  to: { name: "Zoë", address: "zoe@example.org" },
  replyTo: null,
  subject: "Jemand wartet – ещё",
  text: "Grüße\n.\n..dots\nFrom here on: a line that is longer than most, so that it has to be broken somewhere, though not in two.\n",
  writtenAtMs: Date.UTC(2026, 10, 27, 9, 30),
};

function locate(server: SmtpServer, fields: Partial<MailLocation> = {}): MailLocation {
  return { host: "localhost", port: server.port, tls: "none needed", signIn: null, ...fields };
}

async function send(choices: SmtpChoices, fields: Partial<MailLocation> = {}, given: Partial<MailMessage> = {}) {
  await using server = await startSmtpServer(choices);
  const smtp = createSmtp(locate(server, fields), { ca: smtpAuthority });
  const outcome = await smtp.send({ ...message, ...given }, never);
  return { outcome, mails: server.mails, lines: server.lines, connections: server.connections };
}

describe("a mail", () => {
  test("arrives as it was written, with its Message-ID, its date and nobody to answer it automatically", async () => {
    const { outcome, mails } = await send({});
    expect(outcome).toEqual({ kind: "sent" });
    const [mail] = mails;
    expect(mail).toMatchObject({ from: "chat@shop.example", to: ["zoe@example.org"] });
    expect(mail?.body.trim()).toBe(message.text.trim());
    expect(Object.fromEntries(mail?.headers ?? [])).toMatchObject({
      from: "Shop <chat@shop.example>",
      to: "Zoë <zoe@example.org>",
      subject: "Jemand wartet – ещё",
      "message-id": "<0198f0a0-0000-7000-8000-000000000001@shop.example>",
      date: "Fri, 27 Nov 2026 09:30:00 +0000",
      "auto-submitted": "auto-generated",
      "content-type": "text/plain; charset=utf-8",
    });
    expect(mail?.headers.has("reply-to")).toBe(false);
  });

  test("has a Reply-To where there is one", async () => {
    const { mails } = await send({}, {}, { replyTo: { name: "", address: "team@shop.example" } });
    expect(mails[0]?.headers.get("reply-to")).toBe("team@shop.example");
  });

  test("gets no header and no recipient from a name, a subject or an address", async () => {
    const evil = "Eve\r\nBcc: all@example.org\r\n\r\nBuy";
    const to = { name: evil, address: "zoe@example.org" };
    const { mails } = await send(
      {},
      {},
      { subject: evil, to, from: { name: `${evil}\n`, address: "chat@shop.example" } },
    );
    expect(mails[0]?.headers.has("bcc")).toBe(false);
    expect(mails[0]?.to).toEqual(["zoe@example.org"]);
    expect(mails[0]?.body.trim()).toBe(message.text.trim());
    const address = "zoe@example.org>\r\nRCPT TO:<all@example.org";
    const second = await send({}, {}, { to: { name: "", address } });
    expect(second.mails.flatMap((mail) => mail.to)).not.toContain("all@example.org");
    expect(second.lines.filter((line) => line.startsWith("RCPT TO:<all"))).toEqual([]);
  });

  test.each([
    ["implicit TLS", "implicit", "implicit"],
    ["STARTTLS", "starttls", "starttls"],
    ["STARTTLS that a server of this machine offers", "starttls", "none needed"],
    ["no encryption on this machine", "none", "none needed"],
  ] as const)("is handed over with sign-in and %s", async (_, ofServer, tls) => {
    const { outcome, mails } = await send({ tls: ofServer, signIn }, { tls, signIn });
    expect(outcome).toEqual({ kind: "sent" });
    expect(mails[0]?.isEncrypted).toBe(ofServer !== "none");
  });

  test.each(["PLAIN", "LOGIN"])("is handed over after AUTH %s", async (methods) => {
    const { outcome, lines } = await send({ signIn, methods }, { signIn });
    expect(outcome).toEqual({ kind: "sent" });
    expect(lines.some((line) => line.startsWith(`AUTH ${methods}`))).toBe(true);
  });

  test("waits for a greeting that comes after 3 s", async () => {
    expect((await send({ greetingAfterMs: 3_000 })).outcome).toEqual({ kind: "sent" });
  });

  test.each([
    ["RCPT", "550 5.1.1 <zoe@example.org> unknown", "replied 550 5.1.1."],
    ["MAIL", "553 5.1.8 <chat@shop.example> refused", "replied 553 5.1.8."],
    ["DATA", "554 no", "replied 554."],
    ["END", "554 5.7.1 spam, says zoe@example.org", "replied 554 5.7.1."],
  ] as const)("is rejected for good by a 5xx to %s, without the server's words", async (command, reply, problem) => {
    const { outcome, mails } = await send({ replies: { [command]: reply } });
    expect(outcome).toMatchObject({ kind: "rejected", problem: expect.stringContaining(problem) });
    expect(JSON.stringify(outcome)).not.toContain("zoe");
    expect(mails).toEqual([]);
  });

  test.each([
    ["MAIL", "451 4.3.0 later", "replied 451 4.3.0."],
    ["RCPT", "450 4.2.1 greylisted", "replied 450 4.2.1."],
    ["END", "452 4.3.1 full", "replied 452 4.3.1."],
  ] as const)("is to be sent again after a 4xx to %s", async (command, reply, problem) => {
    const { outcome } = await send({ replies: { [command]: reply } });
    expect(outcome).toMatchObject({ kind: "later", problem: expect.stringContaining(problem) });
  });

  test("is to be sent again where the password is wrong, which is nothing of the mail's", async () => {
    const wrong = { user: "mailer", password: "another" };
    const { outcome, lines } = await send({ tls: "implicit", signIn }, { tls: "implicit", signIn: wrong });
    expect(outcome).toMatchObject({
      kind: "later",
      problem: expect.stringContaining("does not let us sign in (535 5.7.8)"),
    });
    expect(JSON.stringify(outcome)).not.toContain("alice");
    expect(lines.some((line) => line.startsWith("MAIL"))).toBe(false);
  });

  test("is not handed over without encryption where that is required, and the password neither", async () => {
    const { outcome, lines } = await send({ tls: "none", signIn }, { tls: "starttls", signIn });
    expect(outcome).toMatchObject({ kind: "later", problem: expect.stringContaining("does not offer STARTTLS") });
    expect(lines.some((line) => /^(AUTH|MAIL)/.test(line))).toBe(false);
  });

  test.each(["implicit", "starttls"] as const)(
    "is not handed over by %s to a server with an unknown authority",
    async (tls) => {
      await using server = await startSmtpServer({ tls, signIn });
      const outcome = await createSmtp(locate(server, { tls, signIn })).send(message, never);
      expect(outcome).toMatchObject({
        kind: "later",
        problem: expect.stringContaining("TLS certificate that is not trusted"),
      });
      expect(server.lines.some((line) => /^(AUTH|MAIL)/.test(line))).toBe(false);
    },
  );

  test.each([
    ["a TLS handshake", { tls: "implicit", isMute: true }, "implicit"],
    ["a greeting", { greetingAfterMs: null }, "none needed"],
    ["a reply to EHLO", { replies: { EHLO: "" } }, "none needed"],
    ["a reply to the text", { replies: { END: "" } }, "none needed"],
  ] as const)("is given up in time by a server that never sends %s", async (_, choices, tls) => {
    await using server = await startSmtpServer(choices);
    const smtp = createSmtp(locate(server, { tls }), { ca: smtpAuthority, timeoutMs: 300 });
    expect(await smtp.send(message, never)).toMatchObject({
      kind: "later",
      problem: expect.stringContaining("was not done within 0.3 s"),
    });
  });

  test("is given up as soon as the server is told to stop", async () => {
    await using server = await startSmtpServer({ greetingAfterMs: null });
    const stopping = new AbortController();
    const sending = createSmtp(locate(server)).send(message, stopping.signal);
    stopping.abort(new Error("the server is stopping"));
    expect(await sending).toMatchObject({ kind: "later" });
  });

  test("is to be sent again where nobody listens, and where there is no such host", async () => {
    const server = await startSmtpServer();
    await server[Symbol.asyncDispose]();
    const refused = await createSmtp(locate(server)).send(message, never);
    expect(refused).toMatchObject({ kind: "later", problem: expect.stringContaining("refuses connections") });
    const unknown = await createSmtp(locate(server, { host: "mail.invalid" })).send(message, never);
    expect(unknown).toMatchObject({ kind: "later", problem: expect.stringContaining("cannot be found") });
  });
});

describe("a check", () => {
  test("signs in and sends nothing", async () => {
    await using server = await startSmtpServer({ tls: "implicit", signIn });
    const smtp = createSmtp(locate(server, { tls: "implicit", signIn }), { ca: smtpAuthority });
    expect(await smtp.check()).toBe(`localhost:${server.port} lets the server sign in.`);
    await eventually(() => server.lines.length === 3);
    expect(server.lines.map((line) => line.split(" ")[0])).toEqual(["EHLO", "AUTH", "QUIT"]);
  });

  test("says what to change where it fails", async () => {
    await using server = await startSmtpServer({ signIn });
    const smtp = createSmtp(locate(server, { signIn: { user: "mailer", password: "wrong" } }));
    const failure = await smtp.check().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MailFailure);
    expect((failure as MailFailure).advice).toContain("Correct user and password in COMPANIOND_SMTP_URL");
  });
});
