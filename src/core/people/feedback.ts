/** What visitors leave for the team: a contact, thumbs for replies, and their word on whether it is resolved. */
import type { DecidedOn, HandoffChange } from "../../contracts/store/handoffs.ts";
import type { NewContact } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import { sealedCommentName, sealedContactName } from "../../domain/feedback.ts";
import { stateConflict } from "../../domain/handoff.ts";
import { startedEvents } from "./asking.ts";
import { findAvailability } from "./availability.ts";
import { type Deciding, eventOf, noticeFields } from "./change.ts";
import type { VisitorConversation, VisitorFeedback } from "./people.ts";
import type { PeopleServices, Revision, Revisions } from "./revisions.ts";

export function createFeedback(services: PeopleServices, revisions: Revisions): VisitorFeedback {
  const { store, clock, ids, sealing, visitors } = services;

  const revisionOf = ({ companion, key, requestId, arrivalMark }: VisitorConversation): Revision => ({
    ...{ conversation: { key }, companion, actor: { type: "visitor" }, requestId, arrivalMark },
  });

  async function takesContact(companion: Companion): Promise<boolean> {
    const { leads } = companion;
    if (leads === null) return false;
    return leads.when === "always" || !(await findAvailability(services, companion)).isAvailable;
  }

  return {
    takesContact,

    async leaveContact(conversation, facts) {
      const { companion } = conversation;
      const { leads, id } = companion;
      if (leads === null || !(await takesContact(companion))) {
        throw stateConflict("No contact is taken here now.", await store.handoffs.find(conversation.key));
      }
      const sealed = await sealing.seal(sealedContactName(id), JSON.stringify(facts));
      const sealedVisitor = conversation.visitor === null ? null : await visitors.seal(conversation.visitor);
      const newId = ids.uuid();
      await revisions.run({ ...revisionOf(conversation), newConversationId: newId }, (on, by) => {
        const contact = { sealed, consentText: leads.consentText, consentedAt: by.nowMs };
        return decideContact({ ...on, sealedVisitor: sealedVisitor ?? on.sealedVisitor }, by, { contact, newId });
      });
    },

    async rate({ companion, key }, clientId, given) {
      const nowMs = clock.nowMs();
      const by: Deciding = { companion, actor: { type: "visitor" }, nowMs, id: ids.uuid() };
      const { comment = null, rating = null, reasons = [] } = given ?? {};
      const sealedComment = comment === null ? null : await sealing.seal(sealedCommentName(companion.id), comment);
      const isKept = await store.feedback.rate({
        ...{ key, clientId },
        rating: rating === null ? null : { rating, reasons, sealedComment, createdAt: nowMs },
        event: ({ sealedVisitor }) => {
          const data = { message_id: clientId, rating, reasons: [...reasons] };
          return eventOf({ key, sealedVisitor }, by, "rating.given", data);
        },
      });
      if (!isKept) throw new AppError("not_found", "There is no such reply of the companion.");
    },

    async setResolved(conversation, isResolved) {
      const revised = await revisions.run(revisionOf(conversation), (on, by) => decideResolved(on, by, isResolved));
      if (revised === null) throw new AppError("not_found", "There is no such conversation.");
    },
  };
}

export function decideContact(
  on: DecidedOn,
  by: Deciding,
  { contact, newId }: { contact: NewContact; newId: string },
): HandoffChange {
  const { handoff, newestSeq } = on;
  return {
    fields: {
      ...{ status: "open", hasContact: true, isAsked: true, ...noticeFields(on, by) },
      ...(handoff === null && { plainSeq: newestSeq }),
    },
    contact,
    audit: null,
    webhookEvents: [
      ...startedEvents(on, by, newId),
      eventOf(on, by, "contact.given", { consented_at: new Date(contact.consentedAt).toISOString() }),
    ],
  };
}

export function decideResolved(
  { handoff, newestSeq }: DecidedOn,
  by: Deciding,
  isResolved: boolean | null,
): HandoffChange | null {
  const isSame = handoff?.resolvedSeq === newestSeq && handoff.isResolved === isResolved;
  if (isSame || (isResolved === null && (handoff?.isResolved ?? null) === null)) return null;
  return {
    fields: {
      ...{ isResolved, resolvedSeq: newestSeq, resolvedAtMs: isResolved === null ? null : by.nowMs },
      ...(handoff === null && { plainSeq: newestSeq }),
    },
    audit: null,
  };
}
