/** One connection's share of a reply. */
import { CompanionError } from "./errors.ts";
import { type CitedSource, createReplyReader } from "./reply-reader.ts";
import type { OpenedResponse } from "./request.ts";

/** How long a server may leave a stream open behind its terminator. */
const endMs = 1000;

export type OnSources = ((sources: CitedSource[]) => void) | undefined;

/** Yields what this response has of the reply. Returns once that is whole; throws an error with the reason if it is not. */
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

/** The rest is ignored, but read to its end the connection serves the next call, and browsers log no failed request. */
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
