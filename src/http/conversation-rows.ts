/** Conversations as the team sees them, with what their records and companions say of people. */
import type { Services } from "../core/dependencies.ts";
import type { Companion } from "../domain/companion.ts";
import type { Conversation } from "../domain/conversation.ts";
import { isVerifiedId } from "../domain/visitor.ts";
import { toRfc3339 } from "../lib/clock.ts";
import { toWirePerson, type WireConversation } from "./schemas/conversation.ts";

type RowServices = Pick<Services, "store" | "visitors">;

/** Rows of one response, whose companions are read once. `readerId`: whose `unread` it is; null: nobody's. */
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
    const unread = counted ? await this.#services.store.handoffs.countUnread(owed, this.#readerId) : null;
    return await Promise.all(conversations.map((one) => this.#showOne(one, unread?.get(one.id) ?? 0)));
  }

  /** Whether people can have to do with it. */
  async hasPeople({ companionId, handoff }: Conversation): Promise<boolean> {
    if (handoff && (handoff.status !== null || handoff.state !== "companion")) return true;
    let reading = this.#companions.get(companionId);
    if (reading === undefined) {
      reading = this.#services.store.companions.find(this.#accountId, companionId);
      this.#companions.set(companionId, reading);
    }
    const companion = await reading;
    return companion !== null && (companion.handoff !== null || companion.leads !== null);
  }

  async #showOne(conversation: Conversation, unread: number): Promise<WireConversation> {
    const { visitorId, sealedVisitor, handoff } = conversation;
    const isVerified = isVerifiedId(visitorId);
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
            unread: this.#readerId === null ? null : unread,
          }
        : {}),
      created_at: toRfc3339(conversation.createdAt),
      updated_at: toRfc3339(conversation.updatedAt),
    };
  }
}
