/** What happens to a message that its client has named: attached to, passed on, read from the store, or run here. */
import type { Services } from "../../dependencies.ts";
import { AppError } from "../../domain/errors.ts";
import {
  answerReplyCall,
  answerStoredReply,
  nameOf,
  passOn,
  requireSameMessage,
  respondWithReply,
  wasCancelled,
} from "../../http/reply-calls.ts";
import { watchStream } from "../../http/stream-rights.ts";
import type { ReplyCall } from "../../instances/instances.ts";
import type { StoredExchange } from "../../store/store.ts";
import { runsAgain } from "../../turns/conversation-keeper.ts";
import type { Turn } from "../../turns/turn.ts";
import { type NamedStart, RunsElsewhere, type TurnRight } from "../../turns/turn-start.ts";

/**
 * Between two looks for a message that moves: it may have ended or begun elsewhere since, but the commit that says so takes
 * a moment.
 */
const pausesMs = [10, 40, 160, 640];

/** How long a client can come back to a reply that has ended. */
const followableMs = 10 * 60_000;

/** A call that begins or repeats a message. */
export type MessageCall = ReplyCall & { readonly action: "attach"; readonly message: string };

export interface Sender {
  readonly right: TurnRight;
  /** For a message that runs here. */
  makeTurn(named: NamedStart): Turn;
}

/** Answers the message, whether it is new or repeated. */
export async function answerMessage(
  services: Services,
  call: MessageCall,
  request: Request,
  sender: Sender,
): Promise<Response> {
  return await lookUntilFound(request.signal, async () => {
    try {
      const attached = await answerReplyCall(services, call, request);
      if (attached !== null) return watched(services, attached, request, sender.right);
      return await answerOrRun(services, call, request, sender);
    } catch (error) {
      if (error instanceof RunsElsewhere) return null;
      throw error;
    }
  });
}

/** `look` resolves with null while the message moves. Rejects with `RunsElsewhere` if it does not come to rest. */
async function lookUntilFound<Found>(signal: AbortSignal, look: () => Promise<Found | null>): Promise<Found> {
  for (const pauseMs of pausesMs) {
    const found = await look();
    if (found !== null) return found;
    await Bun.sleep(pauseMs);
    signal.throwIfAborted();
  }
  const found = await look();
  if (found === null) throw new RunsElsewhere();
  return found;
}

/** Null if the message has moved meanwhile: look again. */
async function answerOrRun(
  services: Services,
  call: MessageCall,
  request: Request,
  { right, makeTurn }: Sender,
): Promise<Response | null> {
  const { coordination, store } = services;
  const { queueKey, messageId } = nameOf(call);
  const elsewhere = await coordination.turns.findElsewhere(queueKey, messageId);
  if (elsewhere !== null) {
    const passed = await passOn(services, elsewhere.url, call, request);
    return passed === null ? null : watched(services, passed, request, right);
  }
  const stored = await store.turns.findExchange(call.key, messageId);
  if (stored !== null) requireSameMessage(call, stored.question);
  if (stored === null || runsAgain(stored)) {
    // At once, so that of several requests for the message one runs it, and the others find it running.
    const reply = services.replies.claim(nameOf(call), call.message, call.resume);
    if (reply === null) return null;
    const turn = makeTurn({ messageId, repeats: stored?.repeats ?? null, text: reply.text });
    return await respondWithReply(services, reply, call, request, { run: (first) => reply.run(turn, first) });
  }
  if (stored.reply === null) throw wasCancelled();
  return watched(services, await answerStoredReply(services, stored, call, request), request, right);
}

/** Answers a client that comes back to a reply. */
export async function followReply(
  services: Services,
  call: ReplyCall,
  request: Request,
  right: TurnRight,
): Promise<Response> {
  const found = await findReply(services, call, request);
  if (found instanceof Response) return watched(services, found, request, right);
  if (services.clock.nowMs() - found.endedAtMs > followableMs) throw noSuchReply();
  return watched(services, await answerStoredReply(services, found, call, request), request, right);
}

/** The stream of the response ends with the right of its own request: the reply may have begun with another token. */
function watched(services: Services, response: Response, request: Request, right: TurnRight): Response {
  watchStream(services, request, right);
  return response;
}

/** Resolves with 204 once the reply has ended for everyone, however it did. */
export async function cancelReply(services: Services, call: ReplyCall, request: Request): Promise<Response> {
  const found = await findReply(services, call, request);
  return found instanceof Response ? found : new Response(null, { status: 204 });
}

/** The response of the instance that runs it, or what is stored. Rejects with `not_found` if there is neither. */
function findReply(services: Services, call: ReplyCall, request: Request): Promise<Response | StoredExchange> {
  const { replies, coordination, store } = services;
  return lookUntilFound(request.signal, async () => {
    const here = await answerReplyCall(services, call, request);
    // What was stopped here may not have known yet that the message runs elsewhere.
    if (here !== null && call.action !== "cancel") return here;
    const { queueKey, messageId } = nameOf(call);
    const elsewhere = await coordination.turns.findElsewhere(queueKey, messageId);
    const passed = elsewhere === null ? null : await passOn(services, elsewhere.url, call, request);
    if (passed !== null || here !== null) return passed ?? here;
    const stored = await store.turns.findExchange(call.key, messageId);
    // It may have begun here meanwhile. One that does not run where it has its ticket is about to be given back, or the
    // address is not that server's own.
    if (stored === null && elsewhere === null && replies.find(nameOf(call)) === null) throw noSuchReply();
    return stored;
  });
}

export function noSuchReply(): AppError {
  return new AppError("not_found", "There is no such reply, or it ended too long ago.");
}
