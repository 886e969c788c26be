/** The mail server, whose engine is loaded with the first mail, or when it is checked; and what sends mail to it. */
import type { Config } from "../config/config.ts";
import type { MailLocation, MailServer } from "../contracts/mail.ts";
import { createMailDelivery, type MailServices } from "../core/mail/delivery.ts";
import { createLetterWriters } from "../core/mail/letters.ts";
import type { Mail } from "../core/mail/mail.ts";

export function openMail(
  { server, from }: NonNullable<Config["mail"]>,
  services: MailServices,
  publicUrl: string | null,
): Mail {
  return createMailDelivery(services, {
    server: openMailServer(server),
    from,
    writers: createLetterWriters({ ...services, publicUrl }),
  });
}

export function openMailServer(location: MailLocation): MailServer {
  const load = async () => (await import("../engines/smtp/smtp.ts")).createSmtp(location);
  return {
    send: async (message, signal) => (await load()).send(message, signal),
    check: async () => (await load()).check(),
  };
}
