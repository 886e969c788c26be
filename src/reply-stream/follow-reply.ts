/** A reply that survives its connections: after a cut it goes on where it was, each character once. */
import { CompanionError } from "./errors.ts";
import { type OnSources, readReply } from "./read-reply.ts";
import type { OpenedResponse } from "./request.ts";
import type { Wait } from "./waiting.ts";

/** After each try to cancel a reply. */
const cancelWaitsMs = [1000, 3000, 0];

export interface FollowOptions {
  /**
   * Opens what follows so many characters. Null sends the message: the same one twice is answered with the same reply,
   * from its first character.
   */
  open(offset: number | null, signal: AbortSignal | undefined): Promise<OpenedResponse>;
  /** A signal that ends one connection: with the given one, or when the connection is known to be dead. */
  openLine(signal: AbortSignal | undefined): { signal: AbortSignal | undefined; close(): void };
  pause: Wait;
  /** The waits before each try to come back; the count begins again once text arrived. */
  delaysMs: readonly number[];
  /** Of a refusal on the way back: a longer one is thrown. Default: a whole window of the server's limits. */
  maxWaitMs?: number | undefined;
  /** Text of the reply that is there already. */
  received: string;
  /** The server has never heard of it. */
  isNew: boolean;
  signal: AbortSignal | undefined;
  /** The connection was lost, or is back. */
  onConnection?: ((isConnected: boolean) => void) | undefined;
  onSources?: OnSources;
}

/**
 * Yields what follows `received`. Throws `incomplete`, or before any text the reason itself; `isCut` where the reply may
 * still be had.
 */
export async function* followReply({
  open,
  openLine,
  pause,
  delaysMs,
  maxWaitMs = 60_000,
  received,
  isNew,
  signal,
  onConnection,
  onSources,
}: FollowOptions): AsyncGenerator<string, void, undefined> {
  let text = received;
  let isPosting = isNew;
  let isBack = !isNew;
  let tries = 0;
  let isWarned = false;
  for (;;) {
    const line = openLine(signal);
    try {
      const opened = await open(isPosting ? null : text.length, line.signal);
      if (isBack) onConnection?.(true);
      const known = isPosting ? text : "";
      isPosting = false;
      if (opened.response.status === 204) {
        opened.close(true);
        // The text is all there, but perhaps not what it cites: that comes with the reply from its first character.
        if (!onSources) return;
        isPosting = true;
        continue;
      }
      for await (const fragment of skipKnown(readReply(opened, onSources), known)) {
        text += fragment;
        tries = 0;
        isWarned = false;
        yield fragment;
        // What came in one piece would still be passed on.
        signal?.throwIfAborted();
      }
      return;
    } catch (problem) {
      signal?.throwIfAborted();
      if (!(problem instanceof CompanionError)) throw problem;
      // Ended too long ago, or shorter than we know it: the message itself is answered however old it is.
      if (!isPosting && (problem.status === 404 || problem.status === 400)) {
        isPosting = true;
        continue;
      }
      // A server that goes away says so, and another one may have the rest. Said twice, it is how the reply ended.
      const isSaid = problem.isCut && Object(problem.cause ?? problem).code === "unavailable";
      const isCut = (problem.isCut && !(isSaid && isWarned)) || (isBack && isPassing(problem, isPosting));
      isWarned ||= isSaid;
      const delayMs = delaysMs[tries];
      const waitMs = problem.retryAfterMs ?? delayMs ?? 0;
      if (!isCut || delayMs === undefined || waitMs > maxWaitMs) throw describe(problem, text, isCut);
      isBack = true;
      tries++;
      onConnection?.(false);
      await pause(waitMs, signal);
    } finally {
      line.close();
    }
  }
}

/** A repeated message is answered from the first character; what the server lost it answers anew, in other words. */
async function* skipKnown(
  fragments: AsyncIterable<string>,
  known: string,
): AsyncGenerator<string, void, undefined> {
  let at = 0;
  for await (const fragment of fragments) {
    const shared = known.slice(at, at + fragment.length);
    if (!fragment.startsWith(shared)) throw new CompanionError("replaced");
    at += shared.length;
    if (fragment.length > shared.length) yield fragment.slice(shared.length);
  }
  if (at < known.length) throw new CompanionError("replaced");
}

/** A refusal on the way back that says nothing about the reply: by a limit, a proxy, a website or server that is away. */
function isPassing({ code, status, requestId, retryAfterMs }: CompanionError, isPosting: boolean): boolean {
  return (
    /^(rate_limited|identify_failed)$/.test(code) ||
    (status >= 500 && (!isPosting || !requestId || retryAfterMs !== null))
  );
}

/** Once there is text, every failure is that of a reply that is not whole. */
function describe(problem: CompanionError, text: string, isCut: boolean): CompanionError {
  const { code, message, cause, ...facts } = problem;
  if (text && code !== "incomplete") return new CompanionError("incomplete", { ...facts, isCut, cause: problem });
  return isCut === problem.isCut ? problem : new CompanionError(code, { ...facts, isCut, message, cause });
}

/** Ends the reply at the server, in the background, and again where that was not heard or has overtaken the message. */
export async function cancelReply(cancel: () => Promise<OpenedResponse>, pause: Wait): Promise<void> {
  for (const waitMs of cancelWaitsMs) {
    try {
      return (await cancel()).close(true);
    } catch {
      // In vain where the server is away; it gives up a reply without readers by itself.
      await pause(waitMs, undefined);
    }
  }
}
