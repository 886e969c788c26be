/** Writes the letters of the outbox when they are sent. */
import type { JsonObject } from "../../domain/json.ts";
import type { Letter, LetterOfLink, LetterWriters } from "./mail.ts";
import { type AnswerRange, type NoticeServices, writeAnswer, writeNotice } from "./notice-letters.ts";
import { type MailText, writeInvitation, writeResetLink } from "./texts.ts";

type LetterServices = NoticeServices & { readonly publicUrl: string | null };

export function createLetterWriters({ publicUrl, ...services }: LetterServices): LetterWriters {
  const urlOf = (path: string) => (publicUrl === null ? null : publicUrl + path);

  function writeLink(content: JsonObject | null, write: (link: LetterOfLink, url: string | null) => MailText): Letter {
    const link = content as LetterOfLink;
    return { to: { name: "", address: link.to }, replyTo: null, ...write(link, urlOf(link.path)) };
  }

  return {
    invitation: (_, content) => writeLink(content, (link, url) => writeInvitation({ ...link, url })),
    reset_link: (_, content) => writeLink(content, (link, url) => writeResetLink({ ...link, url })),
    notice: (mail) => writeNotice(services, mail, urlOf),
    answer: (mail, content) => writeAnswer(services, mail, content as unknown as AnswerRange),
  };
}
