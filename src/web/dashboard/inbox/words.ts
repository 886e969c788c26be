/** What a conversation's state is called, and who is who in it. */
import { visitorName } from "../conversations/visitor.tsx";
import { formatSince, shortId } from "../lib/format.ts";
import type { Conversation, ConversationWithMessages } from "../lib/types.ts";
import type { Tone } from "../ui/states.tsx";
import type { Person, TypingMark } from "./feed.ts";

export function nameVisitor({ visitor, visitor_id, id }: Conversation): string {
  return visitor !== null ? visitorName(visitor) : `Visitor ${shortId(visitor_id ?? id).slice(-4)}`;
}

export function namePerson(person: Person, ownId: string): string {
  return person.id === ownId ? "You" : (person.name ?? "A colleague");
}

/** Of a message, a note or a change. */
export function nameAuthor(author: { name: string | null; member_id: string | null }, ownId: string): string {
  return namePerson({ id: author.member_id ?? "", name: author.name }, ownId);
}

export interface StateWords {
  tone: Tone;
  text: string;
}

/** Null for what needs no word: the companion's own. */
export function describeState({ state, person, status }: Conversation, ownId: string): StateWords | null {
  if (state === "waiting") return { tone: "warn", text: "Waiting for a person" };
  if (state === "person" && person) return { tone: "accent", text: namePerson(person, ownId) };
  if (status === "open") return { tone: "warn", text: "Open" };
  if (status === "answered") return { tone: "good", text: "Answered" };
  if (status === "closed") return { tone: "neutral", text: "Closed" };
  return null;
}

/** What a row of a list shows of it: how long it waits, and its state where the list, all of one view, does not say it. */
export function describeRow(row: Conversation, ownId: string, view = ""): StateWords[] {
  const words: StateWords[] = [];
  if (row.waiting_since) words.push({ tone: "warn", text: `Waiting ${formatSince(row.waiting_since)}` });
  const state = describeState(row, ownId);
  const isMine = view === "mine" && row.person?.id === ownId;
  const isShown = row.state === "person" ? !isMine : words.length === 0 && view !== row.status;
  return state !== null && isShown ? [...words, state] : words;
}

/** Of everyone but oneself. */
export function describeTyping(marks: readonly TypingMark[], conversationId: string, ownId: string): string {
  const others = marks.filter((mark) => mark.conversation_id === conversationId && mark.who.id !== ownId);
  const names = others.map(({ who }) => (who.type === "visitor" ? "The visitor" : (who.name ?? "A colleague")));
  if (names.length === 0) return "";
  return `${new Intl.ListFormat("en").format(names)} ${names.length === 1 ? "is" : "are"} typing…`;
}

/** Another one with each change that is part of its history of people. */
export function versionOf({ state, person, status, assignee, tags }: Conversation): string {
  return JSON.stringify([state, person, status, assignee, tags]);
}

type Reach = NonNullable<ConversationWithMessages["handoff"]>["reach"];

/** How a message would arrive. */
export const reachWords: Record<Reach, string> = {
  live: "The visitor is online and sees it immediately.",
  email: "The visitor has left. They'll get an email.",
  next_message: "The visitor is away. They'll see it with their next message.",
  none: "The visitor has left and can't be reached.",
};
