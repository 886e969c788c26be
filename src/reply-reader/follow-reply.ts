/** A reply that survives its connections: after a cut it goes on where it was, each character once. */
import { CompanionError } from "./errors.ts";
import { type ReplyListeners, readReply } from "./read-reply.ts";
import type { OpenedResponse } from "./request.ts";
import { reconnectDelaysMs, type Wait } from "./waiting.ts";

/** After each try to cancel a reply. */
const cancelWaitsMs = [1000, 3000, 0];

interface ChatCall {
  signal?: AbortSignal | undefined;
  retries?: number | undefined;
}

interface ChatInit {
  method?: "POST" | "DELETE";
  headers?: Record<string, string>;
  body?: string;
  keepalive?: boolean;
}

/** What opens addresses beneath the companion's. */
export interface ChatConnection {
  open(path: string, init: ChatInit, call: ChatCall): Promise<OpenedResponse>;
}

/** A message and where its reply is. */
export interface NamedMessage {
  body: object;
  /** With the query that names the conversation. */
  path: string;
}

interface PostOptions extends ChatCall, ReplyListeners {
  /** Whether the server is to send the events that the listeners receive. */
  events?: true | undefined;
}

/** How a client waits. */
export interface Waiting {
  /** A signal that ends one connection: with the given one, or when the connection is known to be dead. */
  openLine(signal: AbortSignal | undefined): { signal: AbortSignal | undefined; close(): void };
  pause: Wait;
}

export interface FollowOptions extends PostOptions {
  /** The waits before each try to come back, default 1, 2 and 4 s; the count begins again once text arrived. */
  delaysMs?: readonly number[] | undefined;
  /** The longest wait that a refusal of a reconnect may ask for; default a whole window of the server's limits. */
  maxWaitMs?: number | undefined;
  /** Text of the reply that is there already. */
  received?: string | undefined;
  /** The server has never heard of it. */
  isNew: boolean;
  /** The connection was lost, or is back. */
  onConnection?: ((isConnected: boolean) => void) | undefined;
}

/** The same message twice is answered with the same reply, from its first character. */
export function postMessage(
  connection: ChatConnection,
  { body }: NamedMessage,
  call: PostOptions,
): Promise<OpenedResponse> {
  return post(connection, "/chat", { ...body, resume: true, events: call.events }, call);
}

function post(connection: ChatConnection, path: string, body: object, call: ChatCall): Promise<OpenedResponse> {
  const headers = { "Content-Type": "application/json" };
  return connection.open(path, { method: "POST", headers, body: JSON.stringify(body) }, call);
}

/** Decides on a tool call, and yields the rest of the reply. A connection that breaks cannot be resumed. */
export async function* decide(
  connection: ChatConnection,
  { callId, body }: { callId: string; body: object },
  openLine: Waiting["openLine"],
  call: ChatCall & ReplyListeners,
): AsyncGenerator<string, void, undefined> {
  const line = openLine(call.signal);
  const path = `/confirmations/${encodeURIComponent(callId)}`;
  const options = { ...call, signal: line.signal };
  try {
    yield* readReply(await post(connection, path, body, options), options);
  } finally {
    line.close();
  }
}

/** Ends the reply at the server, in the background: also when the page goes away, and again where that did not arrive. */
export async function cancelReply(connection: ChatConnection, { path }: NamedMessage, pause: Wait): Promise<void> {
  for (const waitMs of cancelWaitsMs) {
    try {
      return (await connection.open(path, { method: "DELETE", keepalive: true }, { retries: 0 })).close(true);
    } catch {
      // After a refusal, too: it may have overtaken the message.
      await pause(waitMs, undefined);
    }
  }
}

/**
 * Yields what follows `received`. Throws `incomplete`, or before any text the reason itself; `isCut` where the reply may
 * still be had.
 */
export async function* followReply(
  connection: ChatConnection,
  message: NamedMessage,
  { openLine, pause }: Waiting,
  { delaysMs = reconnectDelaysMs, maxWaitMs = 60_000, received = "", isNew, onConnection, ...call }: FollowOptions,
): AsyncGenerator<string, void, undefined> {
  let text = received;
  let isPosting = isNew;
  let isBack = !isNew;
  let tries = 0;
  let isWarned = false;
  for (;;) {
    const line = openLine(call.signal);
    const options = { ...call, signal: line.signal };
    try {
      const opened = await (isPosting
        ? postMessage(connection, message, options)
        : connection.open(
            `${message.path}&offset=${text.length}${call.events ? "&events=true" : ""}`,
            {},
            { ...options, retries: 0 },
          ));
      if (isBack) onConnection?.(true);
      const known = isPosting ? text : "";
      isPosting = false;
      if (opened.response.status === 204) {
        opened.close(true);
        // The text is all there, but perhaps not what came with it: that comes with the reply from its first character.
        if (!call.events) return;
        isPosting = true;
        continue;
      }
      for await (const fragment of skipKnown(readReply(opened, options), known)) {
        text += fragment;
        tries = 0;
        isWarned = false;
        yield fragment;
      }
      return;
    } catch (problem) {
      call.signal?.throwIfAborted();
      if (!(problem instanceof CompanionError)) throw problem;
      // Ended too long ago, or shorter than we know it: the message itself is answered however old it is.
      if (!isPosting && (problem.status === 404 || problem.status === 400)) {
        isPosting = true;
        continue;
      }
      // A server that shuts down announces it, and another one may have the rest. Announced twice, it is how the reply
      // ended.
      const isSaid = problem.isCut && ((problem.cause ?? problem) as CompanionError).code === "unavailable";
      const isCut = (problem.isCut && !(isSaid && isWarned)) || (isBack && isPassing(problem, isPosting));
      isWarned ||= isSaid;
      const delayMs = delaysMs[tries];
      const waitMs = problem.retryAfterMs ?? delayMs ?? 0;
      if (!isCut || delayMs === undefined || waitMs > maxWaitMs) throw describe(problem, text, isCut);
      isBack = true;
      tries++;
      onConnection?.(false);
      await pause(waitMs, call.signal);
    } finally {
      line.close();
    }
  }
}

/** A repeated message is answered from the first character; what the server lost it answers again, in other words. */
async function* skipKnown(fragments: AsyncIterable<string>, known: string): AsyncGenerator<string, void, undefined> {
  let at = 0;
  for await (const fragment of fragments) {
    const shared = known.slice(at, at + fragment.length);
    if (!fragment.startsWith(shared)) throw new CompanionError("replaced");
    at += shared.length;
    if (fragment.length > shared.length) yield fragment.slice(shared.length);
  }
  if (at < known.length) throw new CompanionError("replaced");
}

/** A refusal of a reconnect that is unrelated to the reply: by a limit, a proxy, a website or server that is away. */
function isPassing({ code, status, requestId, retryAfterMs }: CompanionError, isPosting: boolean): boolean {
  return (
    /^(rate_limited|identify_failed)$/.test(code) ||
    (status >= 500 && (!isPosting || !requestId || retryAfterMs !== null))
  );
}

function describe(problem: CompanionError, text: string, isCut: boolean): CompanionError {
  const { code, message, cause, ...facts } = problem;
  return text && code !== "incomplete"
    ? new CompanionError("incomplete", { ...facts, isCut, cause: problem })
    : new CompanionError(code, { ...facts, isCut, message, cause });
}
