/** A conversation as the team sees it, in lists and in the inbox's stream: its schema, and the conversion into it. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { CompanionStore } from "../../contracts/store/companions.ts";
import {
  type ConversationExcerpts,
  type ConversationStore,
  maxExcerptLength,
} from "../../contracts/store/conversations.ts";
import type { HandoffStore } from "../../contracts/store/handoffs.ts";
import type { Visitors } from "../../core/visitors/visitors.ts";
import type { Companion } from "../../domain/companion.ts";
import type { Conversation } from "../../domain/conversation.ts";
import {
  conversationStates,
  conversationStatuses,
  type Handoff,
  isWaitingForTeam,
  type Person,
  resolvedOf,
} from "../../domain/handoff.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { instant, namedObject } from "./named-object.ts";
import { AnyObject, Nullable, OneOf } from "./schema.ts";

const VerifiedVisitor = namedObject(
  "VerifiedVisitor",
  () => ({
    sub: t.String({ description: "The website's own name for the visitor.", examples: ["customer-42"] }),
    name: Nullable(t.String({ examples: ["Ada Lovelace"] })),
    email: Nullable(t.String({ examples: ["ada@shop.example"] })),
    attributes: AnyObject({ examples: [{ plan: "pro" }] }),
  }),
  { description: "What the latest token said of a verified visitor; null for others." },
);

export const PersonObject = namedObject(
  "Person",
  () => ({
    id: t.String({
      description:
        "Of a member its id, of whom an API key names the key's id with theirs. `from` and `assignee` take it.",
      examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
    }),
    name: Nullable(t.String({ description: "Null: visitors read the companion's name.", examples: ["Grace"] })),
  }),
  { description: "A person of the team." },
);

export function toWirePerson(person: Person | null): Static<typeof PersonObject> | null {
  return person && { id: person.id, name: person.name };
}

export const makeConversationFields = () => ({
  id: t.String({ format: "uuid" }),
  companion_id: t.String({ format: "uuid" }),
  session_id: t.String({ format: "uuid", description: "The client's own id for it." }),
  visitor_id: Nullable(t.String({ format: "uuid", description: "Null if the client sent none, or is verified." })),
  visitor: Nullable(VerifiedVisitor),
  message_count: t.Integer({ examples: [2] }),
  state: t.Optional(
    OneOf(conversationStates, {
      description:
        "Who answers. This and what follows to `unread` is there where the companion has `handoff` or `leads`, or the conversation a status.",
    }),
  ),
  person: t.Optional(Nullable(PersonObject)),
  status: t.Optional(
    Nullable(
      OneOf(conversationStatuses, {
        description: "`open`: the team owes an answer; `answered`: a person wrote last; null: plain talk.",
      }),
    ),
  ),
  assignee: t.Optional(
    Nullable(t.String({ description: "The id of a member.", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] })),
  ),
  tags: t.Optional(t.Array(t.String(), { description: "In lower case.", examples: [["returns"]] })),
  waiting_since: t.Optional(
    Nullable(instant("Since when the visitor waits for the team; null where they do not, or it is not known.")),
  ),
  unread: t.Optional(
    Nullable(
      t.Integer({
        description:
          "The visitor's messages that the reader has not read; 0 without a status. Null where an API key does not say whose with `as`.",
        examples: [1],
      }),
    ),
  ),
  resolved: t.Optional(
    t.Boolean({ description: "The visitor's own word, where there is one and nothing was written after it." }),
  ),
  created_at: instant("When it began."),
  updated_at: instant("When its last message was sent."),
});

const ExcerptObject = namedObject(
  "Excerpt",
  () => ({
    role: OneOf(["user", "assistant"]),
    text: t.String({ maxLength: maxExcerptLength, examples: ["Where is my order?"] }),
  }),
  { description: "The beginning of a message, on one line." },
);

const SearchHitObject = namedObject(
  "SearchHit",
  () => ({
    role: OneOf(["user", "assistant"]),
    before: t.String({ examples: ["Where is my "] }),
    match: t.String({ examples: ["order"] }),
    after: t.String({ examples: ["?"] }),
  }),
  { description: "Where a message contains `q`: the words themselves, and what stands around them, on one line." },
);

/** What lists, and the inbox's stream, have with `include=excerpts`. */
export const makeExcerptFields = () => ({
  first_message: t.Optional(Nullable(ExcerptObject)),
  last_message: t.Optional(Nullable(ExcerptObject)),
  unanswered: t.Optional(t.Boolean({ description: "A question found nothing in the sources." })),
  failed: t.Optional(t.Boolean({ description: "A reply could not be finished." })),
  channels: t.Optional(t.Array(OneOf(["text", "voice"]))),
  matches: t.Optional(
    t.Array(SearchHitObject, { description: "With `q`: up to three of the newest; empty where they are far back." }),
  ),
});

export const ConversationObject = namedObject("Conversation", makeConversationFields);
/** A conversation in a list. */
export type ListedConversation = Static<typeof ConversationRow>;
export const ConversationRow = namedObject("ConversationRow", () => ({
  ...makeConversationFields(),
  ...makeExcerptFields(),
}));
export type WireConversation = Static<typeof ConversationObject>;

// Not `Services`, which pages would compile with the types of this file.
interface RowServices {
  readonly store: {
    readonly companions: Pick<CompanionStore, "find">;
    readonly conversations: Pick<ConversationStore, "readExcerpts">;
    readonly handoffs: Pick<HandoffStore, "countUnread">;
  };
  readonly visitors: Visitors;
}

/** Rows of one response, whose companions are read once. `readerId`: whose `unread` it is; null: no one's. */
export class ConversationRows {
  readonly #services: RowServices;
  readonly #accountId: string;
  readonly #readerId: string | null;
  readonly #companions = new Map<string, Promise<Companion | null>>();

  constructor(services: RowServices, accountId: string, readerId: string | null) {
    this.#services = services;
    this.#accountId = accountId;
    this.#readerId = readerId;
  }

  /** In the same order. */
  async show(conversations: readonly Conversation[]): Promise<WireConversation[]> {
    const owed = conversations.filter(({ handoff }) => handoff && handoff.status !== null).map(({ id }) => id);
    const counted = owed.length > 0 && this.#readerId !== null;
    const unread = counted
      ? await this.#services.store.handoffs.countUnread(this.#accountId, owed, this.#readerId)
      : null;
    return await Promise.all(conversations.map((one) => this.#showOne(one, unread?.get(one.id) ?? 0)));
  }

  /** With their first and last words, and where they contain `q`. In the same order. */
  async showWithExcerpts(conversations: readonly Conversation[], q: string | null): Promise<ListedConversation[]> {
    const [rows, excerpts] = await Promise.all([
      this.show(conversations),
      this.#services.store.conversations.readExcerpts(conversations, q),
    ]);
    return rows.map((row) => ({ ...row, ...toWireExcerpts(excerpts.get(row.id)) }));
  }

  /** Read once. */
  findCompanion(id: string): Promise<Companion | null> {
    const reading = this.#companions.get(id) ?? this.#services.store.companions.find(this.#accountId, id);
    this.#companions.set(id, reading);
    return reading;
  }

  /** Whether people can have to do with it. */
  async hasPeople({ companionId, handoff }: Conversation): Promise<boolean> {
    if (handoff && (handoff.status !== null || handoff.state !== "companion")) return true;
    const companion = await this.findCompanion(companionId);
    return companion !== null && (companion.handoff !== null || companion.leads !== null);
  }

  async #showOne(conversation: Conversation, unread: number): Promise<WireConversation> {
    const { visitorId, sealedVisitor, handoff } = conversation;
    const isVerified = isVerifiedId(visitorId);
    const resolved = resolvedOf(handoff ?? null, conversation.messageCount);
    const owedSinceMs = waitingSince(handoff ?? null);
    return {
      id: conversation.id,
      companion_id: conversation.companionId,
      session_id: conversation.sessionId,
      // The id of a verified visitor is the server's own affair.
      visitor_id: isVerified ? null : visitorId,
      visitor:
        isVerified && sealedVisitor !== null ? await this.#services.visitors.open(visitorId, sealedVisitor) : null,
      message_count: conversation.messageCount,
      ...((await this.hasPeople(conversation))
        ? {
            state: handoff?.state ?? "companion",
            person: toWirePerson(handoff?.person ?? null),
            status: handoff?.status ?? null,
            assignee: handoff?.assigneeId ?? null,
            tags: [...(handoff?.tags ?? [])],
            waiting_since: toNullableRfc3339(owedSinceMs),
            unread: this.#readerId === null ? null : unread,
          }
        : {}),
      ...(resolved === null ? {} : { resolved }),
      created_at: toRfc3339(conversation.createdAt),
      updated_at: toRfc3339(conversation.updatedAt),
    };
  }
}

/** The team's mails about it are counted too: they follow what a visitor left. */
function waitingSince(handoff: Handoff | null): number | null {
  if (handoff === null || !isWaitingForTeam(handoff)) return null;
  const { state, sinceMs, owedSinceMs, missedAtMs, noticeSinceMs, noticedAtMs, reason } = handoff;
  if (state === "person") return owedSinceMs;
  if (state === "waiting") return sinceMs;
  if (noticeSinceMs !== null) return noticeSinceMs;
  const lastMs = Math.max(missedAtMs ?? 0, noticedAtMs ?? 0, sinceMs ?? 0);
  // Reopened by the team, nothing is known of its visitor's wait.
  return lastMs === 0 || (reason === "closed" && lastMs === sinceMs) ? null : lastMs;
}

function toWireExcerpts(excerpts: ConversationExcerpts | undefined): Partial<ListedConversation> {
  if (excerpts === undefined) return {};
  const { first, last, hits, ...marks } = excerpts;
  return { first_message: first, last_message: last, ...marks, ...(hits === null ? {} : { matches: hits }) };
}
