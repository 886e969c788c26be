/** How a browser sends a message, comes back to its reply, and cancels it. */
import { cancelReply } from "../../reply-stream/follow-reply.ts";
import type { OnSources } from "../../reply-stream/read-reply.ts";
import type { OpenedResponse } from "../../reply-stream/request.ts";
import type { CallOptions, Connection } from "./connection.ts";
import { pause } from "./wakefulness.ts";

/** What names a reply at the server. */
export interface ReplyName {
  messageId: string;
  sessionId: string;
  visitorId: string;
}

type ReplyCall = CallOptions & { onSources?: OnSources };

/** The same message twice is answered with the same reply, from its first character. */
export function postMessage(
  connection: Connection,
  message: string,
  { messageId, sessionId, visitorId }: ReplyName,
  call: ReplyCall,
): Promise<OpenedResponse> {
  const events = call.onSources && true;
  const body = { message, session_id: sessionId, visitor_id: visitorId, message_id: messageId, resume: true, events };
  const headers = { "Content-Type": "application/json" };
  return copied(connection.open("/chat", { method: "POST", headers, body: JSON.stringify(body) }, call));
}

/** What follows so many characters of the reply. */
export function resumeReply(
  connection: Connection,
  name: ReplyName,
  offset: number,
  call: ReplyCall,
): Promise<OpenedResponse> {
  const path = `${replyPath(name)}&offset=${offset}${call.onSources ? "&events=true" : ""}`;
  return copied(connection.open(path, {}, { ...call, retries: 0 }));
}

/** Also when the page goes away. */
export function stopReply(connection: Connection, name: ReplyName): void {
  const init = { method: "DELETE", keepalive: true };
  void cancelReply(async () => (await connection.open(replyPath(name), init, { retries: 0 })).close(true), pause);
}

function replyPath({ messageId, sessionId, visitorId }: ReplyName): string {
  return `/chat/${messageId}?session_id=${sessionId}&visitor_id=${visitorId}`;
}

/** For reading of a copy: Chromium cancels what may not be stored once it is read to its end, and logs a failed request. */
async function copied(opening: Promise<OpenedResponse>): Promise<OpenedResponse> {
  const opened = await opening;
  return { ...opened, response: opened.response.clone() };
}
