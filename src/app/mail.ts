/** The mail server, whose engine is loaded with the first mail, or when it is checked. */
import type { MailLocation, MailServer } from "../contracts/mail.ts";

export function openMailServer(location: MailLocation): MailServer {
  const load = async () => (await import("../engines/smtp/smtp.ts")).createSmtp(location);
  return {
    send: async (message, signal) => (await load()).send(message, signal),
    check: async () => (await load()).check(),
  };
}
