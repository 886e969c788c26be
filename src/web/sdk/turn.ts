/** One message of the visitor: noted down until its reply has ended, followed over cuts, cancelled where it is stopped. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { cancelReply, type FollowOptions, followReply, type NamedMessage } from "../../reply-reader/follow-reply.ts";
import type { ReplyListeners } from "../../reply-reader/read-reply.ts";
import type { CallOptions, Connection } from "./connection.ts";
import type { PendingMessages, PendingReply } from "./pending.ts";
import { joinSignals } from "./signals.ts";
import { openLine, pause } from "./wakefulness.ts";

/** What a reply has besides its text. */
export interface ReplyOptions extends CallOptions {
  /**
   * Calls with what the reply has from the companion's knowledge, once, when its text is whole. Never where
   * the companion has none, or the reply did not become whole.
   */
  onSources?: ReplyListeners["onSources"];
  /** Calls when a tool of the companion begins to work on the reply, and when it has ended. */
  onTool?: ReplyListeners["onTool"];
  /**
   * Calls with what the companion would do, but for the visitor's consent: show it, and send the decision with `confirm`.
   * The reply ends with it, perhaps without a word.
   */
  onConfirm?: ReplyListeners["onConfirm"];
  /**
   * Calls with who answers the conversation from now on, where that is not the companion: listen by `live`. A message that
   * was kept for a person has a reply without a word.
   */
  onState?: ReplyListeners["onState"];
  /** Calls where the companion found nothing and a person is offered: `askForPerson` asks for one. */
  onOffer?: ReplyListeners["onOffer"];
}

export interface ChatOptions extends ReplyOptions {
  /** Ends the call alone: the reply goes on at the server for two minutes, and `resume` continues it. */
  leave?: AbortSignal | undefined;
  /** Calls with false when the connection is lost within a reply, and with true when it is back. */
  onConnection?: ((isConnected: boolean) => void) | undefined;
  /** Calls with true when the companion asks for a proof of work, which takes a moment, and with false when it is made. */
  onChallenge?: ((isSolving: boolean) => void) | undefined;
  /** A UUID; default a new one. The same one again attaches to the same reply, and sends nothing twice. */
  messageId?: string | undefined;
}

export interface ResumeOptions extends ChatOptions {
  /** Which reply; default `pending`. */
  reply?: PendingReply;
  /** What the page still has of it; default nothing. Only what follows is yielded. */
  received?: string;
}

interface TurnOptions extends FollowOptions {
  /** Ends the call alone. */
  leave?: AbortSignal | undefined;
  /** The visitor has gone, and another one begins. */
  gone: AbortSignal;
}

export function nameMessage({ messageId, sessionId, message }: PendingReply, visitorId: string): NamedMessage {
  return {
    body: { message, session_id: sessionId, visitor_id: visitorId, message_id: messageId },
    path: `/chat/${messageId}?session_id=${sessionId}&visitor_id=${visitorId}`,
  };
}

export async function* takeTurn(
  connection: Connection,
  pending: PendingMessages,
  reply: PendingReply,
  visitorId: string,
  { signal, leave, gone, ...options }: TurnOptions,
): AsyncGenerator<string, void, undefined> {
  const message = nameMessage(reply, visitorId);
  const joined = joinSignals(signal, leave, gone);
  let isEnded = false;
  joined.signal.throwIfAborted();
  pending.begin(reply);
  try {
    yield* followReply(connection, message, { openLine, pause }, { ...options, signal: joined.signal });
    isEnded = true;
    pending.end(reply.messageId);
  } catch (error) {
    isEnded = error instanceof CompanionError;
    if (error instanceof CompanionError && !error.isCut) pending.end(reply.messageId);
    throw error;
  } finally {
    joined.release();
    if (!isEnded && !leave?.aborted && !gone.aborted) {
      pending.end(reply.messageId);
      void cancelReply(connection, message, pause);
    }
  }
}
