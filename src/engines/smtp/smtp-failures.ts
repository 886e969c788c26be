/** What went wrong with a mail server, as sentences without addresses, and what to change. */
import { MailFailure, type MailLocation } from "../../contracts/mail.ts";
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { codeOf } from "../../lib/error-code.ts";

export class TooLate extends Error {
  constructor(readonly timeoutMs: number) {
    super("the mail server was too slow");
  }
}

/** As the library describes its failures. */
interface Facts {
  /** Its own code, and what the system or TLS had said. */
  code: string;
  cause: string;
  reply: number | null;
  /** As in 5.7.8 (RFC 3463); empty if there is none. */
  detail: string;
}

function factsOf(error: unknown): Facts {
  const { originalCode, responseCode, response } = error as Record<string, unknown>;
  const text = typeof response === "string" ? response : "";
  return {
    code: codeOf(error),
    cause: typeof originalCode === "string" ? originalCode : codeOf(error),
    reply: typeof responseCode === "number" ? responseCode : null,
    detail: /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(text)?.[1] ?? "",
  };
}

/** Whether the server has refused this message for good, and not the client that brings it. */
export function isRefusal(error: unknown): boolean {
  const { code, reply } = factsOf(error);
  return (code === "EENVELOPE" || code === "EMESSAGE") && reply !== null && reply >= 500;
}

export function toMailFailure({ host, port, tls }: MailLocation, error: unknown): MailFailure {
  const server = `${host}:${port}`;
  const fail = (rest: string, advice: string) => new MailFailure(`${server} ${rest}`, advice);
  const reach =
    "Check host and port in COMPANIOND_SMTP_URL, and whether this machine's firewall lets it connect there.";
  if (error instanceof TooLate) {
    const other = tls === "implicit" ? "If it expects STARTTLS, write smtp://." : "If it expects TLS, write smtps://.";
    return fail(`was not done within ${error.timeoutMs / 1000} s.`, `${reach} ${other}`);
  }
  const { code, cause, reply, detail } = factsOf(error);
  const codes = detail === "" ? reply : `${reply} ${detail}`;
  if (code === "EAUTH") {
    const why = reply === null ? "offers no sign-in that this version knows." : `does not let us sign in (${codes}).`;
    return fail(why, "Correct user and password in COMPANIOND_SMTP_URL; their special characters are percent-encoded.");
  }
  if (isUntrustedCertificate(cause)) {
    const own = "NODE_EXTRA_CA_CERTS names the file of a private authority.";
    return fail(`has a TLS certificate that is not trusted (${cause}).`, own);
  }
  if (cause === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return fail(
      "has a TLS certificate for another name.",
      "Name the host in COMPANIOND_SMTP_URL as its certificate does.",
    );
  }
  if (reply !== null && code === "ETLS") {
    return fail(
      `does not offer STARTTLS (${codes}).`,
      "If it expects TLS from the start, write smtps:// in COMPANIOND_SMTP_URL.",
    );
  }
  if (reply !== null) return fail(`replied ${codes}.`, "Its log has the reason.");
  if (code === "EDNS") return fail("cannot be found: no such host is known.", reach);
  if (cause === "ECONNREFUSED") return fail("refuses connections.", reach);
  if (code === "ETLS" || cause.startsWith("ERR_SSL")) {
    return fail(
      `fails in the TLS handshake (${cause}).`,
      "Write smtp:// in COMPANIOND_SMTP_URL if it expects STARTTLS.",
    );
  }
  return fail(cause === "" ? "broke the connection off." : `broke the connection off (${cause}).`, reach);
}
