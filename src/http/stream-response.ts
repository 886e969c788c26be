/** Streams a turn's events without Elysia's response mapping, which would copy the body into another stream. */
import type { Turn } from "../core/turns/turn.ts";
import { idleSeconds, streamSilenceSeconds } from "./heartbeats.ts";
import type { HeaderBag } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";
import type { EventStream } from "./sse.ts";

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

/** Begins the turn, and resolves when the response may begin; rejects as `Turn.begin` does. */
export async function respondWithTurn(
  turn: Turn,
  stream: EventStream,
  set: { headers: unknown },
  facts: RequestContext,
): Promise<Response> {
  stream.follow(turn);
  await whileSilent(facts, turn.begin());
  const headers = set.headers as HeaderBag;
  // Elysia returns a Response unchanged only if nothing else was set.
  set.headers = {};
  return openResponse(stream, headers, facts);
}

/**
 * For what may take longer than a connection may be silent, and has a deadline of its own. Over TLS, Bun counts the time
 * before a response begins as silence; over plain HTTP it does not.
 */
export async function whileSilent<Outcome>(
  connection: Pick<RequestContext, "allowSilence">,
  waiting: Promise<Outcome>,
): Promise<Outcome> {
  connection.allowSilence(0);
  try {
    return await waiting;
  } finally {
    connection.allowSilence(idleSeconds);
  }
}

/** Adds the guards' headers to a response that is made already. */
export function addHeaders(response: Response, set: { headers: unknown }): Response {
  for (const [name, value] of Object.entries(set.headers as HeaderBag)) response.headers.set(name, String(value));
  set.headers = {};
  return response;
}

/** The response that carries the stream; the request ends with it. */
export function openResponse(stream: EventStream, others: HeaderBag, facts: RequestContext): Response {
  const headers = { ...others, ...sseHeaders } as Record<string, string>;
  if (stream.outcome === null) {
    facts.allowSilence(streamSilenceSeconds);
    stream.connection = facts;
  }
  facts.stream = stream;
  return new Response(stream.body, { headers });
}
