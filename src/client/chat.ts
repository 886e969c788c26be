/** Chat by API key: a message, its reply, and what becomes of it when its reader leaves. */
import { CompanionError } from "../reply-reader/errors.ts";
import { type ChatConnection, cancelReply, decide, followReply } from "../reply-reader/follow-reply.ts";
import { type ReplyListeners, readReply } from "../reply-reader/read-reply.ts";
import type { CitedSource, Confirmation, ToolCallState } from "../reply-reader/reply-reader.ts";
import type { OpenedResponse } from "../reply-reader/request.ts";
import { toCompaniondError } from "./errors.ts";
import { makeUuid } from "./ids.ts";
import { type ApiCall, type CallOptions, type Transport, toSearch } from "./transport.ts";

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
 * One reply, to be read once. It is asked for when reading begins. Reading ends normally only when the reply is
 * whole; one that was cut off throws `incomplete` after its last text. Leaving the loop and the call's signal end the
 * reply at the server, which keeps what there is of it.
 */
export interface Reply extends AsyncIterable<string> {
  /**
   * What the reply has from the companion's knowledge, once it is read to its end. Null before, without `events` in the
   * message, and where the companion has none.
   */
  readonly sources: readonly CitedSource[] | null;
  /** The calls of tools so far, in their order, with how each has ended. Empty without `events` in the message. */
  readonly calls: readonly ToolCallState[];
  /** What the visitor is to decide on, once the reply is read to its end: see `companions.confirm`. Null for nothing. */
  readonly confirmation: Confirmation | null;
  /** Reads the reply, or what is left of it, to its end. */
  text(): Promise<string>;
}

/** To a message. */
export interface ChatReply extends Reply {
  /** The conversation: send it with the next message. */
  readonly sessionId: string;
  /** Names the message: the same one again gets the same reply. */
  readonly messageId: string;
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
  const { path, connection } = connect(transport, companionId, options, { isFollowed: true });

  async function* follow(listeners: ReplyListeners): AsyncGenerator<string, void, undefined> {
    let isEnded = false;
    try {
      yield* followReply(
        connection,
        message,
        { openLine, pause: transport.sleep },
        {
          ...{ signal: options.signal, isNew: true, maxWaitMs: transport.maxRetryWaitMs },
          ...(sent.events === true ? { ...listeners, events: true } : {}),
        },
      );
      isEnded = true;
    } catch (error) {
      isEnded = error instanceof CompanionError;
      throw error;
    } finally {
      if (!isEnded) void cancelReply(connection, message, transport.sleep);
    }
  }

  return Object.assign(openReply(follow), {
    sessionId,
    messageId,
    cancel: (call: CallOptions = {}) => transport.send({ method: "DELETE", path, tail: message.path }, call),
  });
}

export function decideOnCall(
  transport: Transport,
  companionId: string,
  { callId, body }: { callId: string; body: object },
  options: CallOptions,
): Reply {
  // Once more it would be refused, as decided on already.
  const { connection } = connect(transport, companionId, options, { isOnce: true });
  const { signal } = options;
  return openReply((listeners) => decide(connection, { callId, body }, openLine, { ...listeners, signal }));
}

/** Servers learn nothing of networks. */
function openLine(signal: AbortSignal | undefined) {
  return { signal, close() {} };
}

function connect(
  transport: Transport,
  companionId: string,
  options: CallOptions,
  tries: Pick<ApiCall, "isOnce" | "isFollowed">,
) {
  const path = ["api", "companions", companionId];
  const connection: ChatConnection = {
    open(tail, { method, body }, { signal, retries = options.maxRetries }) {
      const headers = { accept: "text/event-stream" };
      const text = body === undefined ? undefined : { type: "application/json", content: body };
      const timeoutMs = method === "DELETE" ? cancelTimeoutMs : options.timeoutMs;
      return transport.open(
        { method: method ?? "GET", path, tail, headers, text, ...tries },
        { timeoutMs, signal, maxRetries: retries },
      );
    },
  };
  return { path, connection };
}

/** The text begins with the first fragment that is asked for. */
function openReply(read: (listeners: ReplyListeners) => AsyncIterable<string>): Reply {
  let sources: readonly CitedSource[] | null = null;
  let confirmation: Confirmation | null = null;
  const calls = new Map<string, ToolCallState>();
  const fragments = withOwnErrors(
    read({
      onSources(cited) {
        sources = cited;
      },
      onTool: (call) => void calls.set(call.call_id, call),
      onConfirm(asked) {
        confirmation = asked;
      },
    }),
  );
  return {
    get sources() {
      return sources;
    },
    get calls() {
      return [...calls.values()];
    },
    get confirmation() {
      return confirmation;
    },
    [Symbol.asyncIterator]: () => fragments,
    async text() {
      let text = "";
      for await (const fragment of fragments) text += fragment;
      return text;
    },
  };
}

async function* withOwnErrors(fragments: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  try {
    yield* fragments;
  } catch (error) {
    throw toCompaniondError(error);
  }
}

/** A reply that cannot be gone on with, from the opening of its stream. */
export function readOnce(opening: Promise<OpenedResponse>): AsyncGenerator<string, void, undefined> {
  return withOwnErrors(readOpening(opening));
}

async function* readOpening(opening: Promise<OpenedResponse>): AsyncGenerator<string, void, undefined> {
  yield* readReply(await opening);
}
