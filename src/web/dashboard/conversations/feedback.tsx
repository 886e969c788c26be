/** What visitors say of replies and of a conversation, and the contact that they leave. */
import { ThumbsDown, ThumbsUp } from "lucide-preact";
import type { ConversationWithMessages, Message } from "../lib/types.ts";
import { Time } from "../ui/page.tsx";
import { Badge } from "../ui/states.tsx";

const reasonWords: Record<string, string> = {
  wrong: "wrong",
  incomplete: "incomplete",
  unclear: "unclear",
  off_topic: "off topic",
  other: "another reason",
};

/** Under a reply. */
export function Rated({ rating: { rating, reasons, comment } }: { rating: NonNullable<Message["rating"]> }) {
  const Thumb = rating === "up" ? ThumbsUp : ThumbsDown;
  return (
    <span class={`inline-flex items-center gap-1 ${rating === "up" ? "text-good" : "text-bad"}`}>
      <Thumb size={13} aria-hidden="true" />
      <span class="sr-only">{rating === "up" ? "Rated as good" : "Rated as bad"}</span>
      {reasons.map((reason) => reasonWords[reason] ?? reason).join(", ")}
      {comment !== null && (
        <q dir="auto" class="wrap-anywhere">
          {comment}
        </q>
      )}
    </span>
  );
}

/** Null while the visitor has not said so. */
export function Resolved({ resolved }: { resolved: boolean | undefined }) {
  if (resolved === undefined) return null;
  return <Badge tone={resolved ? "good" : "bad"}>{resolved ? "Resolved" : "Not resolved"}</Badge>;
}

export function Contact({ contact }: { contact: NonNullable<ConversationWithMessages["contact"]> }) {
  const { email, name, message, consent_text, consented_at } = contact;
  return (
    <div>
      <h3 class="mb-1 font-medium">Contact</h3>
      {name !== null && <p dir="auto">{name}</p>}
      <a href={`mailto:${encodeURIComponent(email)}`} class="text-accent underline wrap-anywhere">
        {email}
      </a>
      {message !== null && (
        <p dir="auto" class="mt-1 wrap-anywhere whitespace-pre-wrap">
          {message}
        </p>
      )}
      <p class="mt-1 text-13 text-muted">
        Agreed to “<span dir="auto">{consent_text}</span>”, <Time at={consented_at} />
      </p>
    </div>
  );
}
