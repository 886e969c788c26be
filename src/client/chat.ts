/** Chat by API key: a message, its reply, and what becomes of it when its reader leaves. */
import { CompanionError } from "../reply-stream/errors.ts";
import { type ChatConnection, cancelReply, followReply } from "../reply-stream/follow-reply.ts";
import { readReply } from "../reply-stream/read-reply.ts";
import type { CitedSource } from "../reply-stream/reply-reader.ts";
import type { OpenedResponse } from "../reply-stream/request.ts";
import { toCompaniondError } from "./errors.ts";
import { makeUuid } from "./ids.ts";
import { type CallOptions, type Transport, toSearch } from "./transport.ts";

/** A reply that was left is ended in the background: no caller waits for it. */
const cancelTimeoutMs = 5000;

interface Message {
  message: string;
  session_id?: string | null | undefined;
  visitor_id?: string | null | undefined;
  message_id?: string | null | undefined;
  visitor?: { sub: string } | null | undefined;
  events?: boolean | undefined;
}

/**
 * One reply, to be read once. The message is sent when reading begins. Reading ends normally only when the reply is
 * whole; one that was cut off throws `incomplete` after its last text. Leaving the loop and the call's signal end the
 * reply at the server, which keeps what there is of it.
 */
export interface ChatReply extends AsyncIterable<string> {
  /** The conversation: send it with the next message. */
  readonly sessionId: string;
  /** Names the message: the same one again gets the same reply. */
  readonly messageId: string;
  /**
   * What the reply has from the companion's knowledge, once it is read to its end. Null before, without `events` in the
   * message, and where the companion has none.
   */
  readonly sources: readonly CitedSource[] | null;
  /** Reads the reply, or what is left of it, to its end. */
  text(): Promise<string>;
  /** Ends the reply at the server, for everyone who reads it. */
  cancel(options?: CallOptions): Promise<void>;
}

export function startChat(transport: Transport, companionId: string, sent: Message, options: CallOptions): ChatReply {
  const sessionId = sent.session_id ?? makeUuid();
  const messageId = sent.message_id ?? makeUuid();
  const query = { session_id: sessionId, visitor_id: sent.visitor_id, visitor_sub: sent.visitor?.sub };
  const message = {
    body: { ...sent, session_id: sessionId, message_id: messageId },
    path: `/chat/${encodeURIComponent(messageId)}${toSearch(query)}`,
  };
  const path = ["api", "companions", companionId];
  let sources: readonly CitedSource[] | null = null;

  const connection: ChatConnection = {
    open(tail, { method, body }, { signal, retries = options.maxRetries }) {
      const headers = { accept: "text/event-stream" };
      const text = body === undefined ? undefined : { type: "application/json", content: body };
      const timeoutMs = method === "DELETE" ? cancelTimeoutMs : options.timeoutMs;
      return transport.open(
        { method: method ?? "GET", path, tail, headers, text, isFollowed: true },
        { timeoutMs, signal, maxRetries: retries },
      );
    },
  };

  async function* follow(): AsyncGenerator<string, void, undefined> {
    let isEnded = false;
    const onSources = (told: readonly CitedSource[]) => {
      sources = told;
    };
    try {
      // Servers learn nothing of networks.
      const openLine = (signal: AbortSignal | undefined) => ({ signal, close() {} });
      const waiting = { openLine, pause: transport.sleep };
      yield* followReply(connection, message, waiting, {
        ...{ signal: options.signal, isNew: true, maxWaitMs: transport.maxRetryWaitMs },
        ...(sent.events === true ? { onSources } : {}),
      });
      isEnded = true;
    } catch (error) {
      isEnded = error instanceof CompanionError;
      throw toCompaniondError(error);
    } finally {
      if (!isEnded) void cancelReply(connection, message, transport.sleep);
    }
  }

  const reply = follow();
  return {
    sessionId,
    messageId,
    cancel: (call = {}) => transport.send({ method: "DELETE", path, tail: message.path }, call),
    get sources() {
      return sources;
    },
    [Symbol.asyncIterator]: () => reply,
    async text() {
      let text = "";
      for await (const fragment of reply) text += fragment;
      return text;
    },
  };
}

/** A reply that cannot be gone on with, from the opening of its stream. */
export async function* readOnce(opening: Promise<OpenedResponse>): AsyncGenerator<string, void, undefined> {
  try {
    yield* readReply(await opening);
  } catch (error) {
    throw toCompaniondError(error);
  }
}
