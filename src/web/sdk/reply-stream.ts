/** One connection's share of a reply: how a message is sent, what arrives, how it is cancelled. */
import type { CallOptions, Connection } from "./connection.ts";
import { CompanionError } from "./errors.ts";
import { type CitedSource, createReplyReader } from "./reply-reader.ts";
import type { OpenedResponse } from "./request.ts";
import { pause } from "./wakefulness.ts";

/** How long a server may leave a stream open behind its terminator. */
const endMs = 1000;
/** After each try to cancel a reply. */
const cancelWaitsMs = [1000, 3000, 0];

export type OnSources = ((sources: CitedSource[]) => void) | undefined;

/** What names a reply at the server. */
export interface ReplyName {
  messageId: string;
  sessionId: string;
  visitorId: string;
}

/** The same message twice is answered with the same reply, from its first character. */
export function postMessage(
  connection: Connection,
  message: string,
  { messageId, sessionId, visitorId }: ReplyName,
  call: CallOptions & { onSources?: OnSources },
): Promise<OpenedResponse> {
  const events = call.onSources && true;
  const body = { message, session_id: sessionId, visitor_id: visitorId, message_id: messageId, resume: true, events };
  const headers = { "Content-Type": "application/json" };
  return connection.open("/chat", { method: "POST", headers, body: JSON.stringify(body) }, call);
}

export function replyPath({ messageId, sessionId, visitorId }: ReplyName): string {
  return `/chat/${messageId}?session_id=${sessionId}&visitor_id=${visitorId}`;
}

/** Ends the reply at the server, in the background: also when the page goes away, and again where that was not heard. */
export async function cancelReply(connection: Connection, name: ReplyName): Promise<void> {
  for (const waitMs of cancelWaitsMs) {
    try {
      const opened = await connection.open(replyPath(name), { method: "DELETE", keepalive: true }, { retries: 0 });
      return opened.close(true);
    } catch (error) {
      // Once more after a refusal, too: it may have overtaken the message.
      if (waitMs !== 1000 && !(error as CompanionError).isCut) return;
      await pause(waitMs, undefined);
    }
  }
}

/** Yields what this response has of the reply. Returns once that is whole; throws a `CompanionError` that says why not. */
export async function* readReply(
  opened: OpenedResponse,
  onSources?: OnSources,
): AsyncGenerator<string, void, undefined> {
  // Of a copy: Chromium cancels what may not be stored once it is read to its end, and logs a failed request.
  const stream = opened.response.clone().body?.getReader();
  const reply = createReplyReader();
  let hasText = false;
  try {
    while (stream && !reply.isDone) {
      const { done, value } = await opened.next(stream.read(), "incomplete");
      for (const fragment of reply.push(done ? undefined : value)) {
        hasText = true;
        yield fragment;
      }
      if (done) break;
    }
  } finally {
    if (stream && reply.isDone) void readToEnd(stream, opened.close);
    else opened.close();
  }
  if (reply.isDone) {
    if (reply.sources) onSources?.(reply.sources);
    return;
  }
  const { failure } = reply;
  const facts = {
    requestId: opened.response.headers.get("x-request-id"),
    // A server that goes away says so, and another one may have the reply.
    isCut: !failure || failure === "unavailable",
  };
  const cause = failure && new CompanionError(failure, facts);
  // The server had begun the stream: before any text, this is a refusal that came too late for a status.
  throw cause && !hasText ? cause : new CompanionError("incomplete", { ...facts, cause });
}

/** The rest is ignored, but browsers log a request whose body is left unread as failed. */
async function readToEnd(
  stream: { read(): Promise<{ done: boolean }> },
  close: OpenedResponse["close"],
): Promise<void> {
  const timer = setTimeout(close, endMs);
  try {
    while (!(await stream.read()).done);
    close(true);
  } catch {
    // The connection broke, or the time was over: the reply is whole all the same.
    close();
  }
  clearTimeout(timer);
}
