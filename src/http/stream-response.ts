/** Hands a chat stream to Bun without Elysia's response mapping, which would copy the body into another stream. */
import type { HeaderBag } from "./problem.ts";
import type { RequestFacts } from "./request-facts.ts";
import { type EventStream, sseHeaders } from "./sse.ts";

/** Silence that a stream's connection is allowed; over the heartbeat's 10 s, and finite (see `sseHeaders`). */
const streamSilenceSeconds = 30;

export function streamResponse(stream: EventStream, set: { headers: unknown }, facts: RequestFacts): Response {
  const headers = { ...(set.headers as HeaderBag), ...sseHeaders } as Record<string, string>;
  // Elysia returns a Response as it is only where nothing was set beside it.
  set.headers = {};
  facts.allowSilence(streamSilenceSeconds);
  facts.stream = stream;
  return new Response(stream.body, { headers });
}
