/** What visitors and the model do with a conversation that people may step into. */
import { textOf } from "../../domain/conversation.ts";
import { deadlineOf, isOutside, type Person } from "../../domain/handoff.ts";
import { decideAsk, decideGoBack, decideOffer } from "./asking.ts";
import { findAvailability } from "./availability.ts";
import type { KeptForPerson, People, VisitorConversation } from "./people.ts";
import type { PeopleServices, Revision, Revisions } from "./revisions.ts";
import { decideFinish, decideReach } from "./taking.ts";
import { decideKeep } from "./writing.ts";

type VisitorsSide = Pick<People, "availabilityOf" | "ask" | "goBack" | "keepMessage" | "noteOffer" | "noteTurn">;

/** Of what people wrote for one stream without events, in UTF-16 code units: more is left to `/live`. */
const maxPlainText = 256 * 1024;
const pageLimit = 100;

export const sealedReasonName = (companionId: string) => `handoff reason ${companionId}`;

export function createVisitorsSide(services: PeopleServices, revisions: Revisions): VisitorsSide {
  const { store, ids, sealing, visitors } = services;

  const revisionOf = (
    { companion, key, requestId, arrivalMark }: VisitorConversation,
    type: "visitor" | "model",
  ): Revision => ({
    ...{ conversation: { key }, companion, actor: { type }, requestId, arrivalMark },
  });

  const ask: People["ask"] = async (conversation, by, reason, admit) => {
    const { companion } = conversation;
    const availability = await findAvailability(services, companion);
    const sealedReason = reason === null ? null : await sealing.seal(sealedReasonName(companion.id), reason);
    const sealedVisitor = conversation.visitor === null ? null : await visitors.seal(conversation.visitor);
    const newId = ids.uuid();
    const { isAvailable } = availability;
    for (let isAdmitted = admit === undefined; ; isAdmitted = true) {
      let isRefused = false;
      const revised = await revisions.run(
        { ...revisionOf(conversation, by), newConversationId: newId },
        (on, deciding) => {
          const change = decideAsk(on, deciding, { isAvailable, sealedReason, sealedVisitor, newId });
          isRefused = change !== null && !isAdmitted;
          return isRefused ? null : change;
        },
      );
      if (isRefused) {
        await admit?.();
        continue;
      }
      // Erased since the request came: nothing of it is kept.
      const handoff = revised?.handoff ?? null;
      return {
        ...{ state: handoff?.state ?? "companion", untilMs: deadlineOf(handoff) },
        ...{ ...availability, hasChanged: revised?.hasChanged ?? false, change: handoff?.change ?? 0 },
      };
    }
  };

  async function keepMessage(
    conversation: VisitorConversation,
    { text, messageId, isPlain, isOwn = false }: Parameters<People["keepMessage"]>[1],
  ): Promise<KeptForPerson | null> {
    const sealedVisitor = conversation.visitor === null ? null : await visitors.seal(conversation.visitor);
    const sent = { id: ids.uuid(), text, clientId: messageId, sealedVisitor, isPlain };
    let isPeoples = false;
    let isRepeated = false;
    const revised = await revisions.run(
      { ...revisionOf(conversation, "visitor"), clientId: messageId },
      (on, deciding) => {
        isPeoples = isOutside(on.handoff);
        // One that was never answered has brought nothing, either.
        isRepeated = on.knownSeq !== null && on.unansweredId === null && !isOwn;
        return decideKeep(on, deciding, sent);
      },
    );
    if (revised?.handoff == null || revised.seq === null || !isPeoples) return null;
    const { conversationId, before, handoff, seq } = revised;
    if (!isPlain) return { handoff, seq, texts: [] };
    const broughtSeq = before?.plainSeq ?? 0;
    // A client that repeats a message has lost what its first stream brought.
    const afterSeq = isRepeated ? Math.min(broughtSeq, await findSentBefore(conversationId, seq)) : broughtSeq;
    return { handoff, seq, texts: await readPlain(conversationId, afterSeq, handoff.plainSeq) };
  }

  /** The `seq` of the visitor's message before that one. */
  async function findSentBefore(conversationId: string, seq: number): Promise<number> {
    const from = Math.max(0, seq - 1 - pageLimit);
    const { messages } = await store.handoffs.listLive(conversationId, from, pageLimit);
    return messages.findLast(({ message, seq: at }) => message.role === "user" && at < seq)?.seq ?? from;
  }

  /** What people wrote between what the stream before has brought and what this one brings. */
  async function readPlain(conversationId: string, afterSeq: number, untilSeq: number): Promise<string[]> {
    const texts: string[] = [];
    let left = maxPlainText;
    for (let seq = afterSeq; seq < untilSeq && left > 0; ) {
      const { messages } = await store.handoffs.listLive(conversationId, seq, pageLimit);
      if (messages.length === 0) break;
      for (const { message, author, seq: at } of messages) {
        if (author === null || at > untilSeq) continue;
        const text = textOf(message);
        left -= text.length;
        if (left > 0) texts.push(text);
      }
      seq = messages.at(-1)?.seq ?? untilSeq;
    }
    return texts;
  }

  return {
    availabilityOf: (companion) => findAvailability(services, companion),
    ask,
    keepMessage,

    async goBack(conversation) {
      await revisions.run(revisionOf(conversation, "visitor"), decideGoBack);
    },

    async noteOffer(key) {
      const unnamed = { newConversationId: null, clientId: null, clientIdOf: "visitor", arrivalMark: null } as const;
      const context = revisions.contextOf({ type: "server" });
      // No listener is shown it.
      await store.handoffs.revise({ conversation: { key }, ...unnamed, decide: decideOffer }, context);
    },

    async noteTurn({ companion, key }, asked) {
      if (asked?.hasChanged && asked.state === "waiting") {
        const settling: Revision = { conversation: { key }, companion, actor: { type: "model" } };
        await revisions.run(settling, (on, by) => decideReach(on, by, { change: asked.change, isCut: false }));
      }
      const found = await store.handoffs.findLive(key);
      const handoff = found?.handoff ?? null;
      // In plain talk there are listeners only where a person may take it at any time.
      if (found === null || (handoff === null && companion.handoff?.mode !== "any")) return handoff;
      if (handoff !== null && handoff.reserved !== null) {
        const isPresent = await isPersonPresent(services, companion.accountId, handoff.reserved);
        // As it is now: the turn began long ago.
        const now = (await store.companions.find(companion.accountId, companion.id)) ?? companion;
        const finish: Revision = { conversation: { key }, companion: now, actor: { type: "server" } };
        const revised = await revisions.run(finish, (on, by) => decideFinish(on, by, isPresent));
        if (revised?.hasChanged) return revised.handoff;
      }
      services.live.noteChanged({ ...found, key });
      return handoff;
    },
  };
}

export async function isPersonPresent(
  { store, clock }: Pick<PeopleServices, "store" | "clock">,
  accountId: string,
  { id }: Person,
): Promise<boolean> {
  const present = await store.handoffs.listPresent(accountId, clock.nowMs());
  return present.some(({ person }) => person.id === id);
}
