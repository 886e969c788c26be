/** Answers with what a turn says, past Elysia's response mapping, which would copy the body into another stream. */
import type { Turn } from "../turns/turn.ts";
import type { HeaderBag } from "./problem.ts";
import type { RequestContext } from "./request-context.ts";
import { idleSeconds, streamSilenceSeconds } from "./silence.ts";
import { type EventStream, sseHeaders } from "./sse.ts";

/** Begins the turn, and resolves when the response may begin; rejects as `Turn.begin` does. */
export async function respondWithTurn(
  turn: Turn,
  stream: EventStream,
  set: { headers: unknown },
  facts: RequestContext,
): Promise<Response> {
  stream.follow(turn);
  await turn.begin();
  const headers = { ...(set.headers as HeaderBag), ...sseHeaders } as Record<string, string>;
  // Elysia returns a Response as it is only where nothing was set beside it.
  set.headers = {};
  if (stream.outcome === null) {
    facts.allowSilence(streamSilenceSeconds);
    // It would stick to the connection, which is kept for the visitor's next message: an idle one, or a slow head on it,
    // would be left in peace for as long. After the response has ended it could not be set any more.
    stream.onClosing = () => facts.allowSilence(idleSeconds);
  }
  facts.stream = stream;
  return new Response(stream.body, { headers });
}
