/** Writes the responses of named replies, running or stored: for clients, and for other instances that pass their calls on. */
import type { StoredExchange } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { ReplyCall } from "../core/instances/instances.ts";
import { listCallEvents } from "../core/tools/call-events.ts";
import type { NamedEvent, SourcesEvent } from "../core/turns/events.ts";
import type { KeptReply } from "../core/turns/kept-reply.ts";
import { findRunning, type Whereabouts } from "../core/turns/message-search.ts";
import { RunsElsewhere } from "../core/turns/turn-start.ts";
import { AppError, invalidFields } from "../domain/errors.ts";
import type { CitedSource } from "../domain/knowledge.ts";
import type { HeartbeatTicker } from "./heartbeats.ts";
import { PassedReply, PassedStream } from "./passed-stream.ts";
import { contextOf } from "./request-context.ts";
import { EventStream } from "./sse.ts";
import { openResponse, sseHeaders, whileSilent } from "./stream-response.ts";

export type ReplyServices = Pick<Services, "replies" | "heartbeats" | "ids">;

/**
 * Answers a call that another instance passes on: null if the reply does not run here, or has just ended. Rejects as
 * `respondWhereItIs` does. `seal`: see `EventStream`.
 */
export async function answerReplyCall(
  services: ReplyServices,
  call: ReplyCall,
  request: Request,
  seal?: (frames: string) => string,
): Promise<Response | null> {
  const reply = await findRunning(services.replies, call);
  if (reply === null) return null;
  return await joinReply(services, reply, call, request, seal).catch((error: unknown) => {
    // It has moved, or was kept for people: the instance that passed the call on searches again.
    if (error instanceof RunsElsewhere) return null;
    throw error;
  });
}

/**
 * The response of the instance that has the reply. Null if it has moved meanwhile: search again. `request` is the one
 * to respond to: its signal fires when the client has left. The response has headers of its own only, which may be
 * added to. Rejects with `conflict` (another message, or cancelled), `invalid_request` (the offset), `rate_limited`
 * (too many readers), `unavailable` (it has been stopped, and is not stored yet), or as `Turn.begin` and
 * `OtherInstances.pass` do.
 */
export async function respondWhereItIs(
  services: ReplyServices & Pick<Services, "store" | "clock" | "instances">,
  where: Exclude<Whereabouts, { at: "nowhere" }>,
  call: ReplyCall,
  request: Request,
): Promise<Response | null> {
  if (where.at === "here") return await joinReply(services, where.reply, call, request);
  if (where.at === "elsewhere") return await passOn(services, where.url, call, request);
  return await answerStoredReply(services, where.exchange, call, request);
}

async function joinReply(
  services: ReplyServices,
  reply: KeptReply,
  call: ReplyCall,
  request: Request,
  seal?: (frames: string) => string,
): Promise<Response> {
  if (call.action === "cancel") {
    await stopReply(reply);
    return new Response(null, { status: 204 });
  }
  if (call.action === "attach") requireSameMessage(call, reply.message);
  else requireOffset(reply, call.offset);
  services.replies.resumedCount++;
  if (call.resume) reply.makeResumable();
  return await respondWithReply(services, reply, call, request, { seal });
}

/** For everyone who reads it. Resolves once it is stored; rejects with `unavailable` if that takes long. */
export async function stopReply(reply: KeptReply): Promise<void> {
  reply.stop("cancelled", wasCancelled());
  await reply.whenEnded();
}

/** Answers from the store. */
async function answerStoredReply(
  services: ReplyServices & Pick<Services, "store" | "clock">,
  exchange: StoredExchange,
  call: ReplyCall,
  request: Request,
): Promise<Response> {
  const events = await listEvents(services, exchange, call);
  const reply = services.replies.open(exchange, events);
  try {
    if (call.action === "follow") {
      requireOffset(reply, call.offset);
      const asks = events.some(({ type }) => type === "confirm");
      if (exchange.isComplete && call.offset === reply.text.units && !asks) return nothingLeft();
    }
    return await respondWithReply(services, reply, call, request);
  } finally {
    reply.forgetUnread();
  }
}

/** Of a stored reply; none where the client wants none. */
async function listEvents(
  services: Pick<Services, "store" | "clock">,
  exchange: StoredExchange,
  call: ReplyCall,
): Promise<NamedEvent[]> {
  if (call.sources === null || exchange.replyId === null) return [];
  const calls = call.hasTools ? await listCallEvents(services, call.key.companionId, exchange.replyId) : [];
  // Nothing but the end follows a question to the visitor.
  if (calls.some(({ type }) => type === "confirm")) return calls;
  const sources = await findSources(services, exchange, call);
  return sources === null ? calls : [...calls, sources];
}

/** Null where the model was given no passages. */
async function findSources(
  { store }: Pick<Services, "store">,
  { conversationId, replyId, isComplete }: StoredExchange,
  { sources: wanted }: ReplyCall,
): Promise<SourcesEvent | null> {
  if (wanted === null || replyId === null || !isComplete) return null;
  const seen = (await store.unanswered.listSeen(conversationId, [replyId])).get(replyId);
  if (seen === undefined) return null;
  const sources: CitedSource[] = [];
  for (const { n, isCited, source } of seen) {
    // What was deleted since, or read again, is no longer reported.
    if (source === null || !(isCited || wanted === "seen")) continue;
    sources.push({ n, title: source.title, url: source.url, page: source.page });
  }
  return { type: "sources", sources: sources.sort((a, b) => a.n - b.n) };
}

interface Responding {
  /** Starts the reply, and calls `first` when it may be followed. */
  run: (first: () => void) => void;
  /** See `EventStream`. */
  seal: ((frames: string) => string) | null | undefined;
}

/** The stream of a reply from the call's offset: with ids for who follows, the plain one for a repeated message. */
export async function respondWithReply(
  { heartbeats, ids }: ReplyServices,
  reply: KeptReply,
  { action, offset, sources }: Pick<ReplyCall, "action" | "offset" | "sources">,
  request: Request,
  { run = (first) => first(), seal = null }: Partial<Responding> = {},
): Promise<Response> {
  if (request.method === "HEAD") return headOnly();
  const isFollowing = action === "follow";
  const follower = reply.follow(offset);
  const stream = isFollowing
    ? new NumberedStream(request.signal, heartbeats, offset, sources !== null)
    : new EventStream(request.signal, heartbeats, sources !== null);
  stream.seal = seal;
  stream.onOpen = () => follower.advance();
  // Its first byte takes the head along.
  if (isFollowing) stream.comment("ping");
  run(() => stream.follow(follower));
  const facts = contextOf(request, ids);
  if (!isFollowing) await whileSilent(facts, reply.begun);
  return openResponse(stream, {}, facts);
}

/** The response of the instance at `url`; null and failures as `OtherInstances.pass` has them. */
async function passOn(
  { instances, heartbeats, ids }: Pick<Services, "instances" | "heartbeats" | "ids">,
  url: string | null,
  call: ReplyCall,
  request: Request,
): Promise<Response | null> {
  const facts = contextOf(request, ids);
  const response = await whileSilent(facts, instances.pass(url, call, request.signal));
  if (response?.body == null) return response;
  if (request.method === "HEAD") {
    await response.body.cancel();
    return headOnly();
  }
  const reply = new PassedReply(response.body);
  const stream = new PassedStream(request.signal, heartbeats);
  stream.onOpen = () => void reply.start();
  stream.follow(reply);
  return openResponse(stream, {}, facts);
}

/** A name belongs to one message. */
export function requireSameMessage({ message }: Pick<ReplyCall, "message">, known: string): void {
  if (message === known) return;
  throw new AppError("conflict", "Another message has this message_id already. Send this one under a new one.");
}

export function wasCancelled(): AppError {
  return new AppError("conflict", "This message was cancelled. Send it again under a new message_id.");
}

/** The client has all that there is. */
export function nothingLeft(): Response {
  return new Response(null, { status: 204, headers: { "cache-control": "no-store" } });
}

/** To HEAD; Bun would keep it waiting for the stream's end. */
function headOnly(): Response {
  return new Response(null, { headers: sseHeaders });
}

function requireOffset({ text }: KeptReply, offset: number): void {
  if (text.isPosition(offset)) return;
  const detail = "Must not be past the end of the reply, nor within a character.";
  throw invalidFields([{ param: "offset", detail }]);
}

/**
 * The stream of a client that comes back: each event carries how much of the reply's text the client has after it.
 */
class NumberedStream extends EventStream {
  /** UTF-16 code units. */
  #offset: number;

  constructor(signal: AbortSignal, heartbeats: HeartbeatTicker, offset: number, hasEvents = false) {
    super(signal, heartbeats, hasEvents);
    this.#offset = offset;
  }

  protected override frameText(deltas: readonly string[]): string {
    let frames = "";
    for (const delta of deltas) {
      this.#offset += delta.length;
      frames += this.#number(super.frameText([delta]));
    }
    return frames;
  }

  protected override frameEvent(event: NamedEvent): string {
    return this.#number(super.frameEvent(event));
  }

  protected override frameDone(): string {
    return this.#number(super.frameDone());
  }

  #number(frame: string): string {
    return `id: ${this.#offset}\n${frame}`;
  }
}
