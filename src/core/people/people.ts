/**
 * People who step into conversations: the only code by which a conversation changes hands. Each change is one commit
 * (`contracts/store/handoffs.ts`), decided by the pure rules of `asking.ts`, `taking.ts` and `writing.ts`, and announced
 * to listeners after it.
 */
import type { ArrivalMark } from "../../contracts/coordination.ts";
import type { WriteContext } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { ContactFacts, Rating } from "../../domain/feedback.ts";
import type { ConversationState, ConversationStatus, Handoff, Person } from "../../domain/handoff.ts";
import type { VerifiedVisitor } from "../visitors/visitors.ts";

/** A visitor's conversation with a companion that has `handoff`. */
export interface VisitorConversation {
  readonly companion: Companion;
  readonly key: ConversationKey;
  /** Null unless the visitor is verified. */
  readonly visitor: VerifiedVisitor | null;
  /** Taken when the request arrived: an erasure from then on includes it. */
  readonly arrivalMark: ArrivalMark;
  readonly requestId: string;
}

export interface Asked {
  readonly state: ConversationState;
  /** The deadline that runs, in epoch milliseconds. */
  readonly untilMs: number | null;
  readonly isAvailable: boolean;
  /** Null while open, and where it never opens again. */
  readonly reopensAtMs: number | null;
  /** Whether it changed anything. */
  readonly hasChanged: boolean;
  /** The record's, for `noteTurn`; 0 without a record. */
  readonly change: number;
}

/** Whether a companion's visitors find someone. */
export interface Availability {
  readonly isAvailable: boolean;
  readonly reopensAtMs: number | null;
}

export interface KeptForPerson {
  readonly handoff: Handoff;
  /** Of the message; of the first, if it was kept before. */
  readonly seq: number;
  /** For a stream without events: what people wrote and none such has brought yet, in order. */
  readonly texts: readonly string[];
}

/** A conversation of a companion that a member of the team may see, and the member who acts on it. */
export interface TeamConversation {
  readonly person: Person;
  readonly companion: Companion;
  readonly conversationId: string;
  readonly key: ConversationKey;
  readonly context: WriteContext;
}

export type Taken =
  | { readonly isTaken: true; readonly handoff: Handoff }
  /** With `stop: false`: it is reserved until the reply under way has ended. */
  | { readonly isTaken: false; readonly handoff: Handoff };

export interface SaidByPerson {
  readonly seq: number;
  /** Whether the same `client_id` had it already. */
  readonly isRepeated: boolean;
}

export interface People {
  availabilityOf(companion: Companion): Promise<Availability>;

  /**
   * Throws `conflict` where the visitor may not ask. The model's ask is never refused. `admit`: called once before it changes
   * anything; what it rejects with refuses the ask.
   */
  ask(
    conversation: VisitorConversation,
    by: "visitor" | "model",
    reason: string | null,
    admit?: () => Promise<void>,
  ): Promise<Asked>;
  /** The visitor goes back to the companion; nothing if it answers already. */
  goBack(conversation: VisitorConversation): Promise<void>;
  /**
   * Keeps a visitor's message for people. Null: the companion answers, as no one has the conversation. `messageId`: the
   * client's name of the message; one that is kept already is not kept again. `isOwn`: it was this request that kept it
   * before, and brought nothing yet. Throws `quota_exceeded`.
   */
  keepMessage(
    conversation: VisitorConversation,
    message: { text: string; messageId: string | null; isPlain: boolean; isOwn?: boolean },
  ): Promise<KeptForPerson | null>;
  /** Notes an offer of a person in a reply that found nothing: then the visitor may ask, whatever `ask` says. */
  noteOffer(key: ConversationKey): Promise<void>;

  /** Throws `conflict` with `state` and `person`. `from`: the id of the holder whose conversation is taken over. */
  take(conversation: TeamConversation, options: { stop: boolean; from: string | null }): Promise<Taken>;
  release(conversation: TeamConversation, options: { close: boolean; from: string | null }): Promise<void>;
  /** Takes first, always with `stop`; where that fails nothing is written. `afterSeq`: refused if a colleague wrote beyond it. */
  say(
    conversation: TeamConversation,
    message: { text: string; clientId: string; afterSeq: number | null },
  ): Promise<SaidByPerson>;
  update(
    conversation: TeamConversation,
    change: { status?: ConversationStatus | null; assigneeId?: string | null; tags?: readonly string[] },
  ): Promise<Handoff | null>;

  /**
   * Call it when a turn of a companion with `handoff` was stored: listeners read it, and who has reserved it takes it.
   * `asked`: what came of the ask in the turn's reply: that reply stands before what people and visitors write from then on.
   */
  noteTurn(conversation: Pick<VisitorConversation, "companion" | "key">, asked?: Asked | null): Promise<Handoff | null>;
  /**
   * `handoff` became null, or their holder is gone: conversations are the companion's again. Never rejects: what could
   * not be released is found within a minute (`HandoffStore.listStray`). `but`: companions whose conversations they keep.
   */
  releaseAll(
    of: { companionId: string } | { personId: string; but?: readonly string[] } | { keyId: string },
  ): Promise<void>;
  /**
   * Returns what ends it. The listener is called as soon as someone takes the conversation, at any instance that can be
   * reached: not when a person is only asked for, since that stops no reply.
   */
  onTaken(key: ConversationKey, listener: () => void): () => void;
}

export interface VisitorFeedback {
  /** Whether the form of a contact is taken now. */
  takesContact(companion: Companion): Promise<boolean>;
  /** Kept with the consent's text and time; the newest counts, and the conversation is open. It may come before any message. */
  leaveContact(conversation: VisitorConversation, contact: ContactFacts): Promise<void>;
  /** Null takes it back. Throws `not_found` unless it is of a reply of the companion to this visitor. */
  rate(conversation: VisitorConversation, clientId: string, rating: Omit<Rating, "createdAt"> | null): Promise<void>;
  /** Throws `not_found` without a conversation. */
  setResolved(conversation: VisitorConversation, isResolved: boolean | null): Promise<void>;
}

export interface PeopleService extends People, VisitorFeedback {
  /** Keeps deadlines from now on. */
  start(): void;
  close(): Promise<void>;
}
