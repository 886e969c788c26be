/** A conversation as the team acts on it: found through the account, and only where people have to do with it. */
import type { ConversationNote } from "../../contracts/store/handoffs.ts";
import type { ConversationPage, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { TeamConversation } from "../../core/people/people.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import type { Conversation, ConversationKey, Message } from "../../domain/conversation.ts";
import { missing, readId } from "../../domain/errors.ts";
import { type Rating, sealedCommentName, sealedContactName } from "../../domain/feedback.ts";
import { type Handoff, reachMs, stateConflict } from "../../domain/handoff.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { actingPerson } from "../../http/acting-person.ts";
import { openOrNull } from "../../lib/sealing.ts";
import { type Reach, toWireContact, toWireHandoff, toWireNote } from "./team-responses.ts";

interface TeamCall {
  readonly services: Services;
  readonly principal: Principal;
  writeContext(): WriteContext;
}

export interface OpenedConversation {
  readonly conversationId: string;
  readonly key: ConversationKey;
  readonly companion: Companion;
  readonly handoff: Handoff | null;
}

/** Throws `not_found`. */
export async function openConversation(
  { store }: Pick<Services, "store">,
  { account }: Principal,
  idText: string,
): Promise<OpenedConversation> {
  const conversationId = readId(idText, "conversation");
  const found = await store.handoffs.findOf(account.id, conversationId);
  const companion = found && (await store.companions.find(account.id, found.key.companionId));
  if (found === null || companion === null) throw missing("conversation");
  return { conversationId, companion, ...found };
}

/** Throws `conflict` where people cannot step in. */
export function requirePeople({ companion, handoff }: OpenedConversation): void {
  // Asked for or not: a visitor who left a contact is written to.
  if (companion.handoff !== null || handoff?.isAsked || (handoff?.status ?? null) !== null) return;
  throw stateConflict("Set the companion's `handoff` first: people cannot step into its conversations.", handoff);
}

/** Throws `invalid_request` for a wrong `as`, and `conflict` where people cannot step in. */
export async function toTeamContext(
  { services, principal, writeContext }: TeamCall,
  opened: OpenedConversation,
  as: Parameters<typeof actingPerson>[2],
): Promise<TeamConversation> {
  const person = await actingPerson(services, principal, as);
  requirePeople(opened);
  const { conversationId, key, companion } = opened;
  return { conversationId, key, companion, person, context: writeContext() };
}

/** What a conversation that is read alone shows of people. */
export async function readPeople(
  services: Pick<Services, "store" | "sealing" | "live" | "clock" | "mail">,
  accountId: string,
  { conversation, messages }: ConversationPage,
) {
  const notes = await services.store.handoffs.listNotes(accountId, conversation.id);
  const showNote = async (note: ConversationNote) => toWireNote(note, await openNote(services, note));
  const contact = conversation.handoff?.hasContact ? await readContact(services, accountId, conversation) : null;
  return {
    ...(contact && { contact }),
    handoff: toWireHandoff(conversation.handoff ?? null, findReach(services, conversation, messages)),
    notes: await Promise.all(notes.map(showNote)),
  };
}

const lostText = "This can no longer be read: the server's key has changed since it was written.";

/** A sentence in its stead where it cannot be opened. */
export async function openNote(
  { sealing }: Pick<Services, "sealing">,
  { id, sealedText }: Pick<ConversationNote, "id" | "sealedText">,
): Promise<string> {
  return (await openOrNull(sealing, noteName(id), sealedText)) ?? lostText;
}

async function readContact(
  { store, sealing }: Pick<Services, "store" | "sealing">,
  accountId: string,
  { id, companionId }: Conversation,
) {
  const contact = await store.feedback.findContact(accountId, id);
  if (contact === null) return null;
  const opened = await openOrNull(sealing, sealedContactName(companionId), contact.sealed);
  return opened === null ? null : toWireContact(JSON.parse(opened), contact);
}

/** Of the page's replies, by the id of the message. */
export async function readRatings(
  { store, sealing }: Pick<Services, "store" | "sealing">,
  accountId: string,
  { conversation: { id, companionId }, messages }: ConversationPage,
): Promise<ReadonlyMap<string, Rating>> {
  const ratings = new Map<string, Rating>();
  for (const [messageId, { sealedComment, ...rating }] of await store.feedback.listRatings(accountId, id, messages)) {
    const comment = await openOrNull(sealing, sealedCommentName(companionId), sealedComment);
    ratings.set(messageId, { ...rating, comment });
  }
  return ratings;
}

/** How a message to the visitor would arrive now. `messages`: a page, oldest first. */
function findReach(
  { live, clock, mail }: Pick<Services, "live" | "clock" | "mail">,
  { id, visitorId, updatedAt, handoff }: Conversation,
  messages: readonly Message[],
): Reach {
  if (live.isReached(id)) return "live";
  if (handoff?.hasContact && mail.isOn) return "email";
  if (isVerifiedId(visitorId)) return "next_message";
  const lastWord = messages.findLast(({ role }) => role === "user");
  // On an older page, or before any word, what is known is when the conversation was last alive.
  const isNewest = (messages.at(-1)?.createdAt ?? 0) >= updatedAt;
  const hereMs = isNewest && lastWord !== undefined ? lastWord.createdAt : updatedAt;
  return hereMs < clock.nowMs() - reachMs ? "none" : "next_message";
}

export function noteName(id: string): string {
  return `conversation note ${id}`;
}
