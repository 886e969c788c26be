/** How a browser sends a message, comes back to its reply, and cancels it. */
import { cancelReply, type FollowOptions, followReply } from "../../reply-stream/follow-reply.ts";
import type { OnSources } from "../../reply-stream/read-reply.ts";
import type { OpenedResponse } from "../../reply-stream/request.ts";
import type { CallOptions, Connection } from "./connection.ts";
import { openLine, pause } from "./wakefulness.ts";

/** What names a reply at the server. */
export interface ReplyName {
  messageId: string;
  sessionId: string;
  visitorId: string;
}

/** Sends the message, or opens what follows so many characters of its reply. */
export function openReply(
  connection: Connection,
  message: string,
  name: ReplyName,
  offset: number | null,
  call: CallOptions & { onSources?: OnSources },
): Promise<OpenedResponse> {
  const { messageId, sessionId, visitorId } = name;
  const events = call.onSources && true;
  if (offset !== null) {
    const path = `${replyPath(name)}&offset=${offset}${events ? "&events=true" : ""}`;
    return connection.open(path, {}, { ...call, retries: 0 });
  }
  const body = { message, session_id: sessionId, visitor_id: visitorId, message_id: messageId, resume: true, events };
  const headers = { "Content-Type": "application/json" };
  return connection.open("/chat", { method: "POST", headers, body: JSON.stringify(body) }, call);
}

export function followMessage(
  connection: Connection,
  message: string,
  name: ReplyName,
  options: CallOptions & Omit<FollowOptions, "open" | "openLine" | "pause">,
): AsyncGenerator<string, void, undefined> {
  return followReply({
    ...options,
    ...{ openLine, pause },
    open: (offset, signal) => openReply(connection, message, name, offset, { ...options, signal }),
  });
}

/** Also when the page goes away. */
export function stopReply(connection: Connection, name: ReplyName): void {
  void cancelReply(() => connection.open(replyPath(name), { method: "DELETE", keepalive: true }, { retries: 0 }), pause);
}

function replyPath({ messageId, sessionId, visitorId }: ReplyName): string {
  return `/chat/${messageId}?session_id=${sessionId}&visitor_id=${visitorId}`;
}
