/** A streamed reply that survives its connections: after a cut it goes on where it was, each character once. */
import { CompaniondError, type CompaniondErrorCode } from "./errors.ts";
import { makeUuid } from "./ids.ts";
import { type CitedSource, type OnSources, readReply } from "./reply-stream.ts";
import type { CallOptions, OpenedResponse } from "./request.ts";
import type { Query, Transport } from "./transport.ts";

/** The waits before each try to come back; the count begins again once text arrived. */
const reconnectDelaysMs = [1000, 2000, 4000];
const cancelTimeoutMs = 5000;
/** Before each try to end a reply that was left: the server may not have begun it yet. */
const cancelWaitsMs = [0, 1000, 3000];

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
  const path = ["api", "companions", companionId, "chat"];
  const query: Query = { session_id: sessionId, visitor_id: sent.visitor_id, visitor_sub: sent.visitor?.sub };
  const place = { path: [...path, messageId], query } as const;
  const body = { ...sent, session_id: sessionId, message_id: messageId, resume: true };
  const cancel = (call: CallOptions = {}) => transport.send({ method: "DELETE", ...place }, call);

  const post = () => transport.open({ method: "POST", path, body, headers: { accept: "text/event-stream" } }, options);
  const goOn = (offset: number) =>
    transport.open(
      {
        method: "GET",
        ...place,
        query: { ...query, offset, events: sent.events },
        headers: { accept: "text/event-stream" },
      },
      { ...options, maxRetries: 0 },
    );

  let sources: readonly CitedSource[] | null = null;
  const onSources: OnSources = (told) => {
    sources = told;
  };

  async function* follow(): AsyncGenerator<string, void, undefined> {
    let isEnded = false;
    try {
      const told = { hasEvents: sent.events === true, onSources };
      yield* followReply({ post, goOn, sleep: (ms) => transport.sleep(ms, options.signal), ...told });
      isEnded = true;
    } catch (error) {
      isEnded = error instanceof CompaniondError;
      throw error;
    } finally {
      if (!isEnded) void stop();
    }
  }

  /** In vain where the server is away; it gives up a reply without readers by itself. */
  async function stop(): Promise<void> {
    for (const waitMs of cancelWaitsMs) {
      if (waitMs > 0) await transport.sleep(waitMs, undefined);
      const error = await cancel({ timeoutMs: cancelTimeoutMs }).catch((reason: unknown) => reason);
      if (!(error instanceof CompaniondError && error.status === 404)) return;
    }
  }

  const reply = follow();
  return {
    sessionId,
    messageId,
    cancel,
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

interface ReplyConnections {
  /** From the first character: the same message again is answered with the same reply. */
  post(): Promise<OpenedResponse>;
  goOn(offset: number): Promise<OpenedResponse>;
  sleep(durationMs: number): Promise<void>;
  hasEvents: boolean;
  onSources: OnSources;
}

async function* followReply({
  post,
  goOn,
  sleep,
  hasEvents,
  onSources,
}: ReplyConnections): AsyncGenerator<string, void, undefined> {
  let text = "";
  let isPosting = true;
  let tries = 0;
  for (;;) {
    try {
      const opened = await (isPosting ? post() : goOn(text.length));
      const known = isPosting ? text : "";
      isPosting = false;
      if (opened.response.status === 204) {
        opened.close();
        // The text is all there, but perhaps not what it cites: that comes with the reply from its first character.
        if (!hasEvents) return;
        isPosting = true;
        continue;
      }
      for await (const fragment of skipKnown(readReply(opened, onSources), known)) {
        text += fragment;
        tries = 0;
        yield fragment;
      }
      return;
    } catch (error) {
      if (!(error instanceof CompaniondError)) throw error;
      // Ended too long ago, or shorter than we know it: the message itself is answered however old it is.
      if (!isPosting && (error.status === 404 || error.status === 400)) {
        isPosting = true;
        continue;
      }
      const delayMs = reconnectDelaysMs[tries];
      // The sending of the message has had its tries.
      if (isPosting || delayMs === undefined || !isPassing(error)) throw describe(error, text);
      tries++;
      await sleep(error.retryAfterSeconds === null ? delayMs : error.retryAfterSeconds * 1000);
    }
  }
}

/** The connection or the server is away; the reply may still be had. */
function isPassing(error: CompaniondError): boolean {
  if (error.code === "incomplete") return error.cause === undefined || codeOf(error.cause) === "unavailable";
  return error.code === "network" || error.code === "timeout" || error.code === "rate_limited" || error.status >= 500;
}

function codeOf(cause: unknown): CompaniondErrorCode | null {
  return cause instanceof CompaniondError ? cause.code : null;
}

/** Once there is text, every failure is that of a reply that is not whole. */
function describe(error: CompaniondError, text: string): CompaniondError {
  if (text === "" || error.code === "incomplete") return error;
  const { status, requestId, retryAfterSeconds } = error;
  const message = "The reply ended before it was whole.";
  return new CompaniondError("incomplete", { message, status, requestId, retryAfterSeconds, cause: error });
}

/** A repeated message is answered from the first character; what the server lost it answers anew, in other words. */
async function* skipKnown(fragments: AsyncIterable<string>, known: string): AsyncGenerator<string, void, undefined> {
  let at = 0;
  for await (const fragment of fragments) {
    const shared = known.slice(at, at + fragment.length);
    if (!fragment.startsWith(shared)) throw new CompaniondError("replaced");
    at += shared.length;
    if (fragment.length > shared.length) yield fragment.slice(shared.length);
  }
  if (at < known.length) throw new CompaniondError("replaced");
}
