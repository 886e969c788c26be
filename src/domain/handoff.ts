/** People who step in: what a companion allows, who has a conversation, and what becomes of it. */
import { AppError, invalidFields } from "./errors.ts";

/**
 * Who answers a conversation. `companion` also holds without any record; `waiting`: a person was asked for; `person`:
 * someone has it. Outside `companion` no request to a provider begins for it.
 */
export const conversationStates = ["companion", "waiting", "person"] as const;
export type ConversationState = (typeof conversationStates)[number];

/** Why the state is what it is. */
export const stateReasons = ["asked", "taken", "released", "missed", "idle", "visitor", "closed"] as const;
export type StateReason = (typeof stateReasons)[number];

/** Null is plain talk; `open`: the team owes an answer; `answered`: a person wrote last. */
export const conversationStatuses = ["open", "answered", "closed"] as const;
export type ConversationStatus = (typeof conversationStatuses)[number];

export const handoffModes = ["asked", "any"] as const;
export const handoffAsks = ["visitor", "model", "no_answer"] as const;
export type HandoffAsk = (typeof handoffAsks)[number];
export const handoffWhens = ["present", "hours", "always"] as const;
export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof weekdays)[number];

/** On a zone's wall clock. */
export interface OpeningHours {
  /** An IANA name. */
  timezone: string;
  /** `["09:00", "17:30"]`; `24:00` ends a day; none runs over midnight. A day that is left out is closed. */
  week: Partial<Record<Weekday, [string, string][]>>;
  /** `YYYY-MM-DD`. */
  closed: string[];
}

/** A companion's `handoff`, with every default filled in; it is stored so, in JSON. */
export interface HandoffSettings {
  /** `asked`: a conversation may be taken from its first ask on, missed ones included, and from a contact on. */
  mode: (typeof handoffModes)[number];
  ask: readonly HandoffAsk[];
  when: (typeof handoffWhens)[number];
  /** Null: always open. */
  hours: OpeningHours | null;
  waitSeconds: number;
  idleMinutes: number;
  /** Null, as the two that follow: a sentence in the visitor's language. */
  waitingText: string | null;
  personText: string | null;
  unavailableText: string | null;
}

export const handoffDefaults = { waitSeconds: 120, idleMinutes: 30, ask: ["visitor", "model"] } as const;

/** A companion's `leads`. */
export interface LeadSettings {
  /** `unavailable`: while no one is available. */
  when: "unavailable" | "always";
  consentText: string;
  /** The `Reply-To` of mails to visitors; null for none. */
  replyTo: string | null;
}

/** Someone of the team: a member (the account's own sign-in is one, with the account's id), or whom a key names. */
export interface Person {
  /** Of the member; of a key's person `personIdOfKey`. */
  readonly id: string;
  /** Shown to visitors. Null: the companion's name, until the member has one. */
  readonly name: string | null;
  /** Null for a key's person. */
  readonly memberId: string | null;
  /** Null for members. */
  readonly keyId: string | null;
}

/** The same person for the same key and the same `as`. */
export function personIdOfKey(keyId: string, as: { readonly id?: string | null; readonly name: string }): string {
  return `${keyId}:${as.id ?? as.name}`;
}

/** Who changed something. */
export type HandoffActor =
  | { readonly type: "visitor" | "model" | "clock" }
  /** A setting was changed, or a member or key removed. */
  | { readonly type: "server" }
  | { readonly type: "person"; readonly person: Person };

/** What is kept of a conversation that has left plain talk. */
export interface Handoff {
  readonly conversationId: string;
  readonly accountId: string;
  readonly companionId: string;
  readonly state: ConversationState;
  /** Null if the state never changed: it has a contact or a status only. */
  readonly reason: StateReason | null;
  /** Who has it; null outside `person`. */
  readonly person: Person | null;
  /** Who takes it when the reply under way has ended. */
  readonly reserved: Person | null;
  /** When the state became what it is. */
  readonly sinceMs: number | null;
  /** The deadline that runs: of an ask that no one takes, or of silence. Durable. */
  readonly untilMs: number | null;
  /** When the person's visitor was first left unanswered; null while nothing waits for a person. */
  readonly owedSinceMs: number | null;
  /** Whether the person was present since they took it: only then their absence gives it back. */
  readonly wasPresent: boolean;
  /** Whether a person was asked for, or a contact left: from then on people may take it in mode `asked` as well. */
  readonly isAsked: boolean;
  /** Whether a reply that found nothing has offered a person: then the visitor may ask, whatever `ask` says. */
  readonly isOffered: boolean;
  readonly status: ConversationStatus | null;
  readonly assigneeId: string | null;
  /** Lower case. */
  readonly tags: readonly string[];
  /**
   * `/live` shows unverified visitors messages beyond this `seq`: what there was when the state left `companion`, after a day
   * or more in which it was nothing else.
   */
  readonly reachSeq: number;
  /** When the state last became `companion` again; null if it never did, or not in the day before it left once more. */
  readonly returnedAtMs: number | null;
  /** What streams without events have brought to the visitor. */
  readonly plainSeq: number;
  /** What the visitor has seen. */
  readonly seenSeq: number;
  /** When an ask that counts as missed immediately was last reported; null for never. */
  readonly missedAtMs: number | null;
  /** The visitor's own word, as long as `resolvedSeq` is the newest message. */
  readonly isResolved: boolean | null;
  readonly resolvedSeq: number | null;
  readonly resolvedAtMs: number | null;
  /** Whether the visitor has left a contact. */
  readonly hasContact: boolean;
  /** Since when something waits of which the team has had no mail; null for nothing. */
  readonly noticeSinceMs: number | null;
  /** When the team is sent mail about it, unless it is over by then. Durable, as the deadline. */
  readonly noticeAtMs: number | null;
  /** When the team last had mail about it; null for never. */
  readonly noticedAtMs: number | null;
  /** When the visitor's contact is sent what people wrote, unless it was seen by then; null: nothing was written. */
  readonly answerMailAtMs: number | null;
  /** Visitors' messages kept for people on `day`. */
  readonly day: string;
  readonly dayMessages: number;
  /** Grows with each change, within the account, in the order of commits. */
  readonly change: number;
}

export const handoffEventTypes = [
  "asked",
  "taken",
  "stopped",
  "released",
  "closed",
  "assigned",
  "tagged",
  "missed",
] as const;
export type HandoffEventType = (typeof handoffEventTypes)[number];

/** One line of a conversation's history of people. */
export interface HandoffEvent {
  readonly type: HandoffEventType;
  readonly atMs: number;
  readonly by: HandoffActor;
  /** What the visitor or the model gave as the reason, sealed; null for none. */
  readonly sealedReason: string | null;
}

/** Visitors' messages to people in one conversation and UTC day; the next is refused. */
export const maxDayMessages = 500;
/** How long `/live` reaches back after the state became `companion` again. */
export const reachMs = 24 * 60 * 60_000;
/** An ask that no one can take is reported once in so long. */
export const missedAgainMs = 60 * 60_000;
/** Of a conversation: all of them are read with it. */
export const maxNotes = 200;
/** The team has at most one mail about a conversation in so long. */
export const noticeEveryMs = 5 * 60_000;
/** Where someone is present they have so long before it. */
export const noticeAfterMs = 60_000;
/** What people wrote is sent to the visitor's contact if it was not seen for so long, so seldom, and so often in all. */
export const answerMailAfterMs = 5 * 60_000;
export const answerMailEveryMs = 60 * 60_000;
export const maxAnswerMails = 3;
export const maxTags = 20;
export const maxTagLength = 40;

/** Lower case, each once, in their order. Throws `invalid_request`. */
export function foldTags(tags: readonly string[]): string[] {
  const folded = [...new Set(tags.map((tag) => tag.trim().toLowerCase().normalize("NFC")))];
  const isSound = folded.every((tag) => tag !== "" && [...tag].length <= maxTagLength);
  if (isSound && folded.length <= maxTags) return folded;
  const detail = `Must be at most ${maxTags} tags of 1 to ${maxTagLength} characters.`;
  throw invalidFields([{ param: "tags", detail }]);
}

/** Whether it owes a visitor something: an ask or a contact that no one has dealt with, or a message to its person. */
export function isWaitingForTeam({ state, status, owedSinceMs }: Handoff): boolean {
  if (state === "person") return owedSinceMs !== null;
  return state === "waiting" || status === "open";
}

/** The visitor's own word, which counts until something is written after it. */
export function resolvedOf(
  handoff: Pick<Handoff, "isResolved" | "resolvedSeq"> | null,
  newestSeq: number,
): boolean | null {
  return handoff !== null && handoff.resolvedSeq === newestSeq ? handoff.isResolved : null;
}

/** A change that found a state which it is not for: 409 with `state` and `person`. */
export function stateConflict(sentence: string, handoff: Pick<Handoff, "state" | "person"> | null): AppError {
  const person = handoff?.person ?? null;
  return new AppError("conflict", sentence, {
    members: {
      state: handoff?.state ?? "companion",
      person: person && { id: person.id, name: person.name },
    },
  });
}

/** Whether the companion does not answer: a person was asked for, or has the conversation. */
export function isOutside(handoff: Handoff | null): handoff is Handoff & { state: "waiting" | "person" } {
  return handoff !== null && handoff.state !== "companion";
}

/** The deadline that runs as it is shown: while someone waits for the reply under way to end, none does. */
export function deadlineOf(handoff: Handoff | null): number | null {
  return isOutside(handoff) && handoff.reserved === null ? handoff.untilMs : null;
}

/** A conversation's state as its visitor reads it. */
export interface VisitorState {
  readonly state: ConversationState;
  /** The name of who has it; null outside `person`. */
  readonly personName: string | null;
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
  readonly reason: StateReason | null;
}

/** A person without a name bears the companion's. */
export function toVisitorState(handoff: Handoff | null, companionName: string): VisitorState {
  if (handoff === null) return { state: "companion", personName: null, sinceMs: null, untilMs: null, reason: null };
  const { state, person, sinceMs, reason } = handoff;
  const personName = person && (person.name ?? companionName);
  return { state, personName, sinceMs, untilMs: deadlineOf(handoff), reason };
}
