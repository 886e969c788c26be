/** One message of the visitor: noted down until its reply has ended, followed over cuts, cancelled where it is stopped. */
import { CompanionError } from "../../reply-stream/errors.ts";
import { cancelReply, type FollowOptions, followReply, type NamedMessage } from "../../reply-stream/follow-reply.ts";
import type { Connection } from "./connection.ts";
import type { PendingKeeper, PendingReply } from "./pending.ts";
import { joinSignals } from "./signals.ts";
import { openLine, pause } from "./wakefulness.ts";

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
  pending: PendingKeeper,
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
