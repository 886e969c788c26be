/** One connection's share of a reply. */
import { CompanionError } from "./errors.ts";
import {
  type CitedSource,
  type Confirmation,
  type ConversationState,
  createReplyReader,
  type ToolCallState,
} from "./reply-reader.ts";
import type { OpenedResponse } from "./request.ts";

/** How long a server may leave a stream open behind its terminator. */
const endMs = 1000;

/** What a reply has besides its text, for those who ask for it. */
export interface ReplyListeners {
  onSources?: ((sources: CitedSource[]) => void) | undefined;
  onTool?: ((call: ToolCallState) => void) | undefined;
  onConfirm?: ((confirmation: Confirmation) => void) | undefined;
  /** Who answers the conversation from now on; before the reply ends, however it does. */
  onState?: ((state: ConversationState) => void) | undefined;
  onOffer?: (() => void) | undefined;
}

interface ReadOptions extends ReplyListeners {
  signal?: AbortSignal | undefined;
}

/** Yields what this response has of the reply. Returns once that is whole; throws an error with the reason if it is not. */
export async function* readReply(
  opened: OpenedResponse,
  { onSources, onTool, onConfirm, onState, onOffer, signal }: ReadOptions = {},
): AsyncGenerator<string, void, undefined> {
  // Of a copy: Chromium cancels what may not be stored once it is read to its end, and logs a failed request.
  const stream = opened.response.clone().body?.getReader();
  const reply = createReplyReader();
  let hasText = false;
  try {
    while (stream && !reply.isDone) {
      const { done, value } = await opened.next(stream.read(), "incomplete");
      for (const part of reply.push(done ? undefined : value)) {
        if (typeof part === "string") {
          hasText = true;
          yield part;
          // What came in one piece would still be passed on.
          signal?.throwIfAborted();
        } else ("state" in part ? onTool : onConfirm)?.(part as never);
      }
      if (done) break;
    }
  } finally {
    if (stream && reply.isDone) void readToEnd(stream, opened.close);
    else opened.close();
  }
  if (reply.state) onState?.(reply.state);
  if (reply.isOffered) onOffer?.();
  if (reply.isDone) {
    if (reply.sources) onSources?.(reply.sources);
    return;
  }
  const { failure } = reply;
  const facts = {
    requestId: opened.response.headers.get("x-request-id"),
    // A server that shuts down announces it, and another one may have the reply.
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
