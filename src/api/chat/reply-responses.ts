/** What is done with a message that its client has named, wherever it is: joined, followed, stopped, or run here. */
import type { Services } from "../../core/dependencies.ts";
import type { ReplyCall } from "../../core/instances/instances.ts";
import { isKeptForPeople, runsAgain } from "../../core/turns/conversation-storage.ts";
import { findRunning, locate, nameOf, searchUntilFound } from "../../core/turns/message-search.ts";
import type { Turn } from "../../core/turns/turn.ts";
import { type NamedStart, RunsElsewhere, type TurnRight } from "../../core/turns/turn-start.ts";
import { AppError } from "../../domain/errors.ts";
import {
  nothingLeft,
  requireSameMessage,
  respondWhereItIs,
  respondWithReply,
  stopReply,
  wasCancelled,
} from "../../http/reply-calls.ts";
import { contextOf } from "../../http/request-context.ts";
import type { PeopleReplies } from "./people-replies.ts";

/** How long a client can come back to a reply that has ended. */
const followableMs = 10 * 60_000;

/** A call that begins or repeats a message. */
export type MessageCall = ReplyCall & { readonly action: "attach"; readonly message: string };

export interface Sender {
  readonly right: TurnRight;
  /** For a message that runs here. */
  makeTurn(named: NamedStart): Turn;
  /** Null for a companion whose conversations no people may step into. */
  readonly people: PeopleReplies | null;
  /** Of a message that was kept while they might. */
  openPeople(): Promise<PeopleReplies>;
}

/** Answers the message, whether it is new or repeated. */
export async function answerMessage(
  services: Services,
  call: MessageCall,
  request: Request,
  sender: Sender,
): Promise<Response> {
  return await searchUntilFound(request.signal, async () => {
    try {
      return await answerOrRun(services, call, request, sender);
    } catch (error) {
      if (error instanceof RunsElsewhere) return null;
      throw error;
    }
  });
}

async function answerOrRun(
  services: Services,
  call: MessageCall,
  request: Request,
  { right, makeTurn, people, openPeople }: Sender,
): Promise<Response | null> {
  const where = await locate(services, call);
  if (where === null) return null;
  const stored = where.at === "stored" ? where.exchange : null;
  if (stored !== null) requireSameMessage(call, stored.question);
  if (stored !== null && isKeptForPeople(stored)) return await (people ?? (await openPeople())).answerKept();
  if (where.at === "nowhere" || (stored !== null && runsAgain(stored))) {
    const kept = (await people?.keep()) ?? null;
    if (kept !== null) return kept;
    // Immediately, so that of several requests for the message one runs it, and the others find it running.
    const reply = services.replies.claim(nameOf(call), call.message, call.resume);
    if (reply === null) return null;
    const turn = makeTurn({ messageId: call.messageId, repeats: stored?.repeats ?? null, text: reply.text });
    const answered = respondWithReply(services, reply, call, request, { run: (first) => reply.run(turn, first) });
    return await (people === null ? answered : answered.catch((failure: unknown) => people.keepRefused(failure)));
  }
  if (stored?.reply === null) throw wasCancelled();
  return watched(services, await respondWhereItIs(services, where, call, request), request, right);
}

/** Answers a client that comes back to a reply. */
export async function followReply(
  services: Services,
  call: ReplyCall,
  request: Request,
  right: TurnRight,
): Promise<Response> {
  const response = await searchUntilFound(request.signal, async () => {
    const where = await locate(services, call);
    if (where === null) return null;
    if (where.at === "nowhere") throw noSuchReply();
    if (where.at === "stored" && isKeptForPeople(where.exchange)) return nothingLeft();
    if (where.at === "stored" && services.clock.nowMs() - where.exchange.endedAtMs > followableMs) throw noSuchReply();
    return await respondWhereItIs(services, where, call, request);
  });
  return watched(services, response, request, right);
}

/** The stream of the response ends with the right of its own request: the reply may have begun with another token. */
function watched<Answer extends Response | null>(
  services: Services,
  response: Answer,
  request: Request,
  right: TurnRight,
): Answer {
  if (response !== null) watchStream(services, request, right);
  return response;
}

/** Resolves with 204 once the reply has ended for everyone, however it did. */
export function cancelReply(services: Services, call: ReplyCall, request: Request): Promise<Response> {
  return searchUntilFound(request.signal, async () => {
    const running = await findRunning(services.replies, call);
    if (running !== null) await stopReply(running);
    // What was stopped here may not have known yet that the message runs elsewhere.
    const where = await locate(services, call);
    if (where?.at === "elsewhere") return await respondWhereItIs(services, where, call, request);
    if (where?.at === "nowhere" && running === null) throw noSuchReply();
    return where === null ? null : new Response(null, { status: 204 });
  });
}

export function noSuchReply(): AppError {
  return new AppError("not_found", "There is no such reply, or it ended too long ago.");
}

/**
 * Ends streams of replies whose token is taken away while the reply goes on: it may have begun with another token.
 * Call it once the request has its response.
 */
function watchStream(
  { openTurns, ids }: Pick<Services, "openTurns" | "ids">,
  request: Request,
  right: TurnRight,
): void {
  const { stream } = contextOf(request, ids);
  if (stream === null || stream.outcome !== null) return;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const watched = {
    checkedMark: -1,
    ended,
    get isStopped() {
      return stream.outcome !== null;
    },
    async checkRight() {
      const isRightful = (await right.check()) !== null;
      if (!isRightful) stream.cut();
      return isRightful;
    },
  };
  openTurns.enter(watched, null);
  const { onClosing } = stream;
  stream.onClosing = () => {
    onClosing?.();
    openTurns.leave(watched, null);
    resolve();
  };
}
