/** A mail server that is spoken to by SMTP (RFC 5321), one connection for each message. */
import MailComposer from "nodemailer/lib/mail-composer";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { MailLocation, MailMessage, MailOutcome, MailServer } from "../../contracts/mail.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { isRefusal, TooLate, toMailFailure } from "./smtp-failures.ts";

interface SmtpOptions {
  /** Replaced in tests: of all that one call does. */
  timeoutMs?: number;
  /** An authority to trust, in tests. */
  ca?: string;
}

/** How long an ended connection may linger. */
const farewellMs = 1_000;
const maxReplyBytes = 64 * 1024;

export function createSmtp(location: MailLocation, options: SmtpOptions = {}): MailServer {
  return {
    async send(message, signal): Promise<MailOutcome> {
      try {
        await converse(location, options, signal, (step, connection) => deliver(step, connection, message));
        return { kind: "sent" };
      } catch (error) {
        return { kind: isRefusal(error) ? "rejected" : "later", problem: toMailFailure(location, error).message };
      }
    },

    async check() {
      try {
        await converse(location, options, new AbortController().signal, async () => {});
        const server = `${location.host}:${location.port}`;
        return location.signIn === null ? `${server} can be reached.` : `${server} lets the server sign in.`;
      } catch (error) {
        throw toMailFailure(location, error);
      }
    },
  };
}

type Done = (error?: Error | null) => void;
/** One step of the conversation: it rejects as well if the connection ends meanwhile. */
type Step = (begin: (done: Done) => void) => Promise<void>;

/** Connects and signs in, does `work`, and leaves, all within the time. */
async function converse(
  location: MailLocation,
  { timeoutMs = 30_000, ca }: SmtpOptions,
  signal: AbortSignal,
  work: (step: Step, connection: SMTPConnection) => Promise<void>,
): Promise<void> {
  const { host, port, tls, signIn } = location;
  const connection = new SMTPConnection({
    ...{ host, port, secure: tls === "implicit", requireTLS: tls === "starttls" },
    // A server on this machine has a certificate for another name, if any.
    tls: { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: tls !== "none needed" },
    // The one time limit is below: the library's are for some waits alone.
    ...{ connectionTimeout: 10 * timeoutMs, greetingTimeout: 10 * timeoutMs, socketTimeout: 10 * timeoutMs },
    ...{ socketCloseTimeout: farewellMs, maxResponseSize: maxReplyBytes },
  });
  const { promise: broken, reject } = Promise.withResolvers<never>();
  // No one may be waiting any more when it breaks.
  broken.catch(() => {});
  connection.on("error", reject);
  connection.on("end", () => reject(new Error("the connection has ended")));
  const deadline = startDeadline(signal, timeoutMs, () => new TooLate(timeoutMs));
  const stop = () => reject(deadline.signal.reason);
  deadline.signal.addEventListener("abort", stop, { once: true });
  const step: Step = (begin) => {
    const { promise, resolve, reject: fail } = Promise.withResolvers<void>();
    begin((error) => (error == null ? resolve() : fail(error)));
    promise.catch(() => {});
    return Promise.race([broken, promise]);
  };
  try {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    await step((done) => connection.connect(done));
    if (signIn !== null) {
      const { user, password: pass } = signIn;
      await step((done) => connection.login({ user, pass }, done));
    }
    await work(step, connection);
    connection.quit();
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    deadline.end();
  }
}

async function deliver(step: Step, connection: SMTPConnection, message: MailMessage): Promise<void> {
  const { id, from, to, replyTo, subject, text, writtenAtMs } = message;
  const composed = new MailComposer({
    ...{ from: cleaned(from), to: cleaned(to), ...(replyTo === null ? {} : { replyTo: cleaned(replyTo) }) },
    ...{ subject: oneLine(subject), text, date: new Date(writtenAtMs) },
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf("@") + 1)}>`,
    // No automatic reply, such as of a vacation, answers it (RFC 3834).
    headers: { "Auto-Submitted": "auto-generated" },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  const bytes = await composed.compile().build();
  const envelope = { from: from.address, to: [to.address], size: bytes.length };
  await step((done) => connection.send(envelope, bytes, (error) => done(error)));
}

const cleaned = ({ name, address }: MailMessage["from"]) => ({ name: oneLine(name), address: oneLine(address) });

/** Whatever was put into a name, no header begins behind it. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
