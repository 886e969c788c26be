/** What visitors and the model do with a conversation that people may step into. */
import type { Revised } from "../../contracts/store/handoffs.ts";
import { textOf } from "../../domain/conversation.ts";
import { isOutside, type Person } from "../../domain/handoff.ts";
import { decideAsk, decideGoBack, decideOffer } from "./asking.ts";
import { findAvailability } from "./availability.ts";
import type { Asked, KeptForPerson, People, VisitorPlace } from "./people.ts";
import type { PeopleServices, Revision, Revisions } from "./revisions.ts";
import { decideFinish } from "./taking.ts";
import { decideKeep } from "./writing.ts";

type VisitorsSide = Pick<People, "availabilityOf" | "ask" | "goBack" | "keepMessage" | "noteOffer" | "noteTurn">;

/** Of what people wrote for one stream without events, in UTF-16 code units: more is left to `/live`. */
const maxPlainText = 256 * 1024;
const pageLimit = 100;

export const sealedReasonName = (companionId: string) => `handoff reason ${companionId}`;

export function createVisitorsSide(services: PeopleServices, revisions: Revisions): VisitorsSide {
  const { store, ids, sealing, visitors } = services;

  const revisionOf = (
    { companion, key, requestId, arrivalMark }: VisitorPlace,
    type: "visitor" | "model",
  ): Revision => ({
    ...{ place: { key }, companion, actor: { type }, requestId, arrivalMark },
  });

  async function ask(place: VisitorPlace, by: "visitor" | "model", reason: string | null): Promise<Asked> {
    const { companion } = place;
    const availability = await findAvailability(services, companion);
    const sealedReason = reason === null ? null : await sealing.seal(sealedReasonName(companion.id), reason);
    const sealedVisitor = place.visitor === null ? null : await visitors.seal(place.visitor);
    const newId = ids.uuid();
    const { isAvailable } = availability;
    const revised = await revisions.run({ ...revisionOf(place, by), newConversationId: newId }, (on, deciding) =>
      decideAsk(on, deciding, { isAvailable, sealedReason, sealedVisitor, newId }),
    );
    // Erased since the request came: nothing of it is kept.
    const { state, untilMs } = revised?.handoff ?? { state: "companion", untilMs: null };
    return {
      ...{ state, untilMs: state === "companion" ? null : untilMs },
      ...{ ...availability, hasChanged: revised?.hasChanged ?? false },
    };
  }

  async function keepMessage(
    place: VisitorPlace,
    { text, messageId, isPlain }: { text: string; messageId: string | null; isPlain: boolean },
  ): Promise<KeptForPerson | null> {
    const sealedVisitor = place.visitor === null ? null : await visitors.seal(place.visitor);
    const sent = { id: ids.uuid(), text, clientId: messageId, sealedVisitor, isPlain };
    let isPeoples = false;
    const revised = await revisions.run({ ...revisionOf(place, "visitor"), clientId: messageId }, (on, deciding) => {
      isPeoples = isOutside(on.handoff);
      return decideKeep(on, deciding, sent);
    });
    if (revised?.handoff == null || revised.seq === null || !isPeoples) return null;
    return { handoff: revised.handoff, seq: revised.seq, texts: isPlain ? await readPlain(revised) : [] };
  }

  /** What people wrote between what the stream before has brought and what this one brings. */
  async function readPlain({ conversationId, before, handoff }: Revised): Promise<string[]> {
    const untilSeq = handoff?.plainSeq ?? 0;
    const texts: string[] = [];
    let left = maxPlainText;
    for (let seq = before?.plainSeq ?? 0; seq < untilSeq && left > 0; ) {
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

    async goBack(place) {
      await revisions.run(revisionOf(place, "visitor"), decideGoBack);
    },

    async noteOffer(key) {
      const unnamed = { newConversationId: null, clientId: null, clientIdOf: "visitor", arrivalMark: null } as const;
      const context = revisions.contextOf({ type: "server" });
      // No listener is shown it.
      await store.handoffs.revise({ place: { key }, ...unnamed, decide: decideOffer }, context);
    },

    async noteTurn({ companion, key }) {
      const found = await store.handoffs.findLive(key);
      const handoff = found?.handoff ?? null;
      // In plain talk there are listeners only where a person may take it at any time.
      if (found === null || (handoff === null && companion.handoff?.mode !== "any")) return handoff;
      if (handoff !== null && handoff.reserved !== null) {
        const isPresent = await isPersonPresent(services, companion.accountId, handoff.reserved);
        const finish: Revision = { place: { key }, companion, actor: { type: "server" } };
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
