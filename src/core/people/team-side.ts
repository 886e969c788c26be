/** What the team does with conversations: takes, writes, releases, and works on them. */
import type { DecidedOn, Revised } from "../../contracts/store/handoffs.ts";
import { textOf } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { foldTags, type Handoff, stateConflict } from "../../domain/handoff.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { decideReleaseAll } from "./asking.ts";
import type { People, SaidByPerson, Taken, TeamConversation } from "./people.ts";
import type { Decide, PeopleServices, Revision, Revisions } from "./revisions.ts";
import {
  decideFinish,
  decideReach,
  decideRelease,
  decideReserve,
  decideTake,
  decideUpdate,
  type Take,
} from "./taking.ts";
import { barrierMs, ifQuiet, waitForTurn } from "./turn-barrier.ts";
import { isPersonPresent } from "./visitors-side.ts";
import { decideSay } from "./writing.ts";

type TeamSide = Pick<People, "take" | "release" | "say" | "update" | "releaseAll">;

const pageLimit = 100;

export function createTeamSide(services: PeopleServices, revisions: Revisions): TeamSide {
  const { store, clock, ids } = services;

  const revisionOf = ({ companion, conversationId, person, context }: TeamConversation): Revision => ({
    conversation: { accountId: companion.accountId, conversationId },
    ...{ companion, actor: { type: "person", person }, context },
  });

  /** Of a further change of the same request, with an audit entry of its own. */
  function furtherOf(conversation: TeamConversation): Revision {
    const context = { ...conversation.context, nowMs: clock.nowMs(), auditId: ids.uuid() };
    return { ...revisionOf(conversation), context };
  }

  /** Rejects with `not_found` if there is no such conversation. */
  async function change(revision: Revision, decide: Decide) {
    let newestSeq = 0;
    const revised = await revisions.run(revision, (on: DecidedOn, by) => {
      newestSeq = on.newestSeq;
      return decide(on, by);
    });
    if (revised === null) throw new AppError("not_found", "There is no such conversation.");
    return { ...revised, newestSeq };
  }

  async function toTake({ person, companion }: TeamConversation, from: string | null): Promise<Take> {
    return { person, from, isPresent: await isPersonPresent(services, companion.accountId, person) };
  }

  /** Resolves when the reply under way is stored: what the person writes stands behind it. */
  async function takeNow(conversation: TeamConversation, from: string | null, revision: Revision): Promise<Handoff> {
    const take = await toTake(conversation, from);
    const { handoff, key, newestSeq } = await change(revision, (on, by) => decideTake(on, by, take));
    if (handoff === null) throw new AppError("internal", "A conversation was taken and has no record.");
    if (handoff.state !== "person") throw stateConflict("This companion hands no conversations to people.", handoff);
    if (clock.nowMs() - (handoff.sinceMs ?? 0) >= barrierMs) return handoff;
    await waitForTurn(services, key);
    return (await settleReach(conversation, handoff, newestSeq)) ?? handoff;
  }

  async function settleReach(
    conversation: TeamConversation,
    taken: Handoff,
    afterSeq: number,
  ): Promise<Handoff | null> {
    const { messages } = await store.handoffs.listLive(conversation.conversationId, afterSeq, 2);
    if (messages.length === 0) return null;
    const isCut = messages.some(({ message }) => message.role === "assistant" && !message.complete);
    const { change: taking } = taken;
    const revised = await change(furtherOf(conversation), (on, by) => decideReach(on, by, { change: taking, isCut }));
    return revised.handoff;
  }

  async function reserve(conversation: TeamConversation, from: string | null): Promise<Taken> {
    const take = await toTake(conversation, from);
    const taken = await ifQuiet(services, conversation.key, () =>
      change(revisionOf(conversation), (on, by) => decideTake(on, by, take)),
    );
    const handoff = taken?.result.handoff;
    if (handoff) return { isTaken: true, handoff };
    const reserved = await change(revisionOf(conversation), (on, by) => decideReserve(on, by, take));
    // The reply may have ended before it was reserved: then no `noteTurn` follows.
    const finished =
      reserved.handoff?.reserved &&
      (await ifQuiet(services, conversation.key, () =>
        change(furtherOf(conversation), (on, by) => decideFinish(on, by, take.isPresent)),
      ));
    const now = finished?.result.handoff ?? reserved.handoff;
    if (now === null) throw new AppError("internal", "A conversation was reserved and has no record.");
    return { isTaken: now.state === "person", handoff: now };
  }

  /** What colleagues wrote beyond that; and up to where was read. */
  async function readColleagues({ conversationId, person }: TeamConversation, afterSeq: number) {
    const messages: object[] = [];
    let seq = afterSeq;
    for (;;) {
      const read = await store.handoffs.listLive(conversationId, seq, pageLimit);
      for (const { seq: at, message, author } of read.messages) {
        if (author === null || author.id === person.id) continue;
        const { name, memberId: member_id, keyId: key_id } = author;
        const wire = { seq: at, author: { type: "person", name, member_id, key_id }, text: textOf(message) };
        messages.push({ ...wire, created_at: toRfc3339(message.createdAt) });
      }
      seq = read.messages.at(-1)?.seq ?? read.newestSeq;
      // A page of them is enough to refuse, and for the client to read on.
      if (messages.length > 0 || seq >= read.newestSeq) break;
    }
    return { messages, seq };
  }

  async function requireRead(conversation: TeamConversation, afterSeq: number | null): Promise<number> {
    if (afterSeq === null) return Number.POSITIVE_INFINITY;
    const { messages, seq } = await readColleagues(conversation, afterSeq);
    if (messages.length === 0) return seq;
    throw new AppError("conflict", "A colleague has written in the meantime.", { members: { messages } });
  }

  async function say(conversation: TeamConversation, message: Parameters<People["say"]>[1]): Promise<SaidByPerson> {
    const { text, clientId, afterSeq } = message;
    const said = { id: ids.uuid(), text, clientId, person: conversation.person };
    let isReady = false;
    const first = await change({ ...furtherOf(conversation), clientId }, (on, by) => {
      const isTheirs = on.handoff?.state === "person" && on.handoff.person?.id === conversation.person.id;
      const isSettled = isTheirs && by.nowMs - (on.handoff?.sinceMs ?? 0) >= barrierMs;
      isReady = isSettled && (afterSeq === null || on.newestSeq <= afterSeq);
      return isReady ? decideSay(on, by, said) : null;
    });
    if (first.seq !== null) return await toSaid(conversation, first, text);
    await requireRead(conversation, afterSeq);
    const { handoff } = conversation.companion;
    if (handoff !== null) await takeNow(conversation, null, furtherOf(conversation));
    for (;;) {
      const readSeq = await requireRead(conversation, afterSeq);
      let isBehind = false;
      const revised = await change({ ...revisionOf(conversation), clientId }, (on, by) => {
        isBehind = on.knownSeq === null && on.newestSeq > readSeq;
        // Someone has written since it was read.
        return isBehind ? null : decideSay(on, by, said);
      });
      if (!isBehind) return await toSaid(conversation, revised, text);
    }
  }

  /** Throws `conflict` if it was there already, with another text. */
  async function toSaid({ conversationId }: TeamConversation, revised: Revised, text: string): Promise<SaidByPerson> {
    const { seq, hasChanged } = revised;
    if (seq === null) throw new AppError("internal", "A message was kept and has no position.");
    if (hasChanged) return { seq, isRepeated: false };
    const [stored] = (await store.handoffs.listLive(conversationId, seq - 1, 1)).messages;
    if (stored?.seq === seq && textOf(stored.message) === text) return { seq, isRepeated: true };
    throw new AppError("conflict", "A message with this client_id and another text was sent before.");
  }

  async function releaseHeld(of: Parameters<People["releaseAll"]>[0]): Promise<void> {
    const isMeant = (handoff: Handoff) => {
      if ("companionId" in of) return true;
      if ("personId" in of && of.but?.includes(handoff.companionId)) return false;
      const whose = [handoff.person, handoff.reserved];
      return whose.some((person) => ("keyId" in of ? person?.keyId === of.keyId : person?.id === of.personId));
    };
    for (;;) {
      const held = await store.handoffs.listHeld(of, pageLimit);
      let released = 0;
      for (const key of held) {
        const accountId = (await store.handoffs.find(key))?.accountId;
        const companion = accountId === undefined ? null : await store.companions.find(accountId, key.companionId);
        if (companion === null) continue;
        const revision: Revision = { conversation: { key }, companion, actor: { type: "server" } };
        const revised = await revisions.run(revision, (on, by) => decideReleaseAll(on, by, isMeant));
        if (revised?.hasChanged) released++;
      }
      if (held.length < pageLimit || released === 0) return;
    }
  }

  return {
    async take(conversation, { stop, from }) {
      if (!stop) return await reserve(conversation, from);
      return { isTaken: true, handoff: await takeNow(conversation, from, revisionOf(conversation)) };
    },

    async release(conversation, { close, from }) {
      await change(revisionOf(conversation), (on, by) =>
        decideRelease(on, by, { person: conversation.person, close, from }),
      );
    },

    say,

    async update(conversation, { tags, ...rest }) {
      const update = { ...rest, ...(tags && { tags: foldTags(tags) }) };
      return (await change(revisionOf(conversation), (on, by) => decideUpdate(on, by, update))).handoff;
    },

    async releaseAll(of) {
      try {
        await releaseHeld(of);
      } catch (error) {
        services.log.error("conversations are not released yet", { error });
      }
    },
  };
}
