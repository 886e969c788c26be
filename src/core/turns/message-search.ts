/** Where a named message is: running here, running at another instance, stored, or nowhere. */
import type { StoredExchange } from "../../contracts/store/store.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Services } from "../dependencies.ts";
import { queueKeyOf } from "./conversation-storage.ts";
import type { KeptReply } from "./kept-reply.ts";
import type { NamedReplies, ReplyName } from "./named-replies.ts";
import { RunsElsewhere } from "./turn-start.ts";

type SearchServices = Pick<Services, "replies" | "coordination" | "store">;

export interface NamedMessage {
  readonly key: ConversationKey;
  /** Lower case. */
  readonly messageId: string;
}

export type Whereabouts =
  | { readonly at: "here"; readonly reply: KeptReply }
  /** `url` is null if the address of that instance is unknown. */
  | { readonly at: "elsewhere"; readonly url: string | null }
  | { readonly at: "stored"; readonly exchange: StoredExchange }
  | { readonly at: "nowhere" };

/**
 * Between two searches for a message that moves: it may have ended or begun elsewhere since, but the commit that says so
 * takes a moment.
 */
const pausesMs = [10, 40, 160, 640];

export function nameOf({ key, messageId }: NamedMessage): ReplyName {
  return { queueKey: queueKeyOf(key), messageId };
}

/**
 * The reply that runs here, and goes on; null if there is none. One that ends because everyone has left it is waited for.
 * Rejects with `unavailable` if that takes long.
 */
export async function findRunning(replies: NamedReplies, message: NamedMessage): Promise<KeptReply | null> {
  const reply = replies.find(nameOf(message));
  if (reply?.isLeft) await reply.whenEnded();
  return reply === null || reply.hasEnded || reply.isLeft ? null : reply;
}

/** Null if it is on the move: search again. */
export async function locate(services: SearchServices, message: NamedMessage): Promise<Whereabouts | null> {
  const { replies, coordination, store } = services;
  const reply = await findRunning(replies, message);
  if (reply !== null) return { at: "here", reply };
  const name = nameOf(message);
  const elsewhere = await coordination.turns.findElsewhere(name.queueKey, name.messageId);
  if (elsewhere !== null) return { at: "elsewhere", url: elsewhere.url };
  const exchange = await store.turns.findExchange(message.key, message.messageId);
  if (exchange !== null) return { at: "stored", exchange };
  // It may have begun here meanwhile.
  return replies.find(name) === null ? { at: "nowhere" } : null;
}

/** `search` resolves with null while the message moves. Rejects with `RunsElsewhere` if it does not come to rest. */
export async function searchUntilFound<Found>(
  signal: AbortSignal,
  search: () => Promise<Found | null>,
): Promise<Found> {
  for (const pauseMs of pausesMs) {
    const found = await search();
    if (found !== null) return found;
    await Bun.sleep(pauseMs);
    signal.throwIfAborted();
  }
  const found = await search();
  if (found === null) throw new RunsElsewhere();
  return found;
}
