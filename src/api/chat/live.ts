/** How a visitor's conversation is followed: as a stream of events, or as JSON that may wait for something new. */
import type { LiveConversation } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { ListenerRight, Listening, LiveEnd, LiveEvent } from "../../core/people/live.ts";
import { stateMark } from "../../core/people/live-channel.ts";
import type { Companion } from "../../domain/companion.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import { isOutside, reachMs, stateConflict, toVisitorState } from "../../domain/handoff.ts";
import { unverified } from "../../domain/visitor.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { asksJson, frameEvent, LiveStream } from "../../http/live-stream.ts";
import { toWireState } from "../../http/named-events.ts";
import { contextOf } from "../../http/request-context.ts";
import { toWireLiveMessage } from "../../http/schemas/live.ts";
import { openResponse, whileSilent } from "../../http/stream-response.ts";
import { toUuid } from "../../lib/ids.ts";

export interface LiveCall {
  readonly request: Request;
  readonly set: ResponseHead;
  readonly companion: Companion;
  readonly key: ConversationKey;
  /** Verified visitors are shown everything. */
  readonly isVerified: boolean;
  /** What open streams are counted by; null: not by address. */
  readonly address: string | null;
  readonly right: ListenerRight;
}

const maxWaitSeconds = 25;
/** Messages of one JSON answer. */
const pageSize = 100;

export function noConversation(): AppError {
  return new AppError("not_found", "There is no such conversation.");
}

/** Throws `conflict` where people have nothing to do with it. */
export function requirePeople({ handoff }: Companion, found: LiveConversation | null): void {
  if (handoff !== null || (found?.handoff?.status ?? null) !== null || found?.handoff?.hasContact) return;
  throw stateConflict("No person can be reached here: the companion has no `handoff`.", found?.handoff ?? null);
}

/** Throws `not_found` for ids that cannot be any conversation's. `visitorId`: a verified visitor's; null for others. */
export function readKey({ searchParams }: URL, companionId: string, visitorId: string | null): ConversationKey {
  const sessionId = toUuid(searchParams.get("session_id") ?? "");
  const sent = searchParams.get("visitor_id") || null;
  const ownId = visitorId ?? (sent === null ? null : toUuid(sent));
  if (sessionId === undefined || ownId === undefined) throw noConversation();
  return { companionId, sessionId, visitorId: ownId };
}

function readAfter({ headers }: Request, { searchParams }: URL): number {
  const lastEventId = headers.get("last-event-id") ?? "";
  const after = isSeq(lastEventId) ? lastEventId : searchParams.getAll("after").join() || "0";
  if (isSeq(after)) return Math.min(Number(after), Number.MAX_SAFE_INTEGER);
  throw invalidFields([{ param: "after", detail: "Must be a whole number: the seq of the last message received." }]);
}

const isSeq = (text: string) => /^\d+$/.test(text);

function readWaitMs({ searchParams }: URL): number {
  const wait = searchParams.getAll("wait").join() || "0";
  if (/^\d{1,2}$/.test(wait) && Number(wait) <= maxWaitSeconds) return Number(wait) * 1000;
  throw invalidFields([{ param: "wait", detail: `Must be a whole number of seconds from 0 to ${maxWaitSeconds}.` }]);
}

/** Beyond what the listener is shown: unverified visitors see what came since the state last left `companion`. */
function firstSeq({ handoff, newestSeq }: LiveConversation, { isVerified }: LiveCall, after: number, nowMs: number) {
  const asked = Math.min(after, newestSeq);
  if (isVerified) return asked;
  const returnedAtMs = handoff?.returnedAtMs ?? null;
  const isReached = isOutside(handoff) || (returnedAtMs !== null && nowMs - returnedAtMs <= reachMs);
  return isReached && handoff !== null ? Math.max(asked, Math.min(handoff.reachSeq, newestSeq)) : newestSeq;
}

const staysOpen = ({ companion }: LiveCall) => companion.handoff?.mode === "any";

/** What would begin now would be ended immediately. */
function requireRunning({ lifecycle }: Services): void {
  if (lifecycle.isDraining) throw ended("The server is shutting down.");
}

function ended(sentence: string): AppError {
  return new AppError("unavailable", sentence, { retryAfterSeconds: 1 });
}

/** 204 where the companion answers and nothing was missed. */
export async function answerListener(services: Services, call: LiveCall): Promise<Response | object | undefined> {
  const url = new URL(call.request.url);
  const after = readAfter(call.request, url);
  const waitMs = asksJson(call.request) ? readWaitMs(url) : null;
  requireRunning(services);
  call.set.headers["cache-control"] = "no-store";
  if (waitMs === null) return await openStream(services, call, after);
  return await answerPoll(services, call, after, waitMs);
}

async function openStream(services: Services, call: LiveCall, after: number): Promise<Response | undefined> {
  const { live, heartbeats, clock, ids, log } = services;
  const { request, set, companion, key, right } = call;
  const slot = live.takeSlot(call.address);
  const stream = new LiveStream(request.signal, heartbeats);
  let listening: Listening | null = null;
  function close(): void {
    listening?.leave();
    slot.release();
  }
  try {
    listening = await live.listen(key, { take: (event) => sendEvent(stream, event, companion.name) });
    requireRunning(services);
    requirePeople(companion, listening?.opened ?? null);
    if (listening === null) throw noConversation();
    const { opened, start } = listening;
    const afterSeq = firstSeq(opened, call, after, clock.nowMs());
    const stays = staysOpen(call);
    if (!stays && !isOutside(opened.handoff) && opened.newestSeq <= afterSeq) {
      stream.cancel();
      close();
      return undefined;
    }
    stream.onOpen = () => {
      start({ afterSeq, stays, right }).catch((error) => {
        log.warn("a conversation could not be read for its listener", { error });
        stream.cut();
      });
    };
    const response = openResponse(stream, set.headers as Record<string, string>, contextOf(request, ids));
    set.headers = {};
    stream.whenEnded(close);
    return response;
  } catch (error) {
    stream.cancel();
    close();
    throw error;
  }
}

const endComments: Readonly<Record<LiveEnd, string | null>> = {
  over: null,
  again: "again",
  unavailable: "error unavailable",
  visitor_unverified: "error visitor_unverified",
  replaced: "error replaced",
};

function sendEvent(stream: LiveStream, event: LiveEvent, companionName: string): Promise<void> | undefined {
  switch (event.type) {
    case "state":
      return stream.send(frameEvent("state", toWireState(toVisitorState(event.handoff, companionName))));
    case "message":
      return stream.send(frameEvent("message", toWireLiveMessage(event.message, companionName), event.message.seq));
    case "typing":
      return stream.send(frameEvent("typing", { typing: event.isTyping }));
    case "end":
      stream.end(endComments[event.reason]);
      return undefined;
  }
}

async function answerPoll(services: Services, call: LiveCall, after: number, waitMs: number): Promise<object> {
  const { store, live, clock } = services;
  const { companion, key } = call;

  async function answer(): Promise<object> {
    const found = await store.handoffs.findLive(key);
    requirePeople(companion, found);
    if (found === null) throw noConversation();
    const { conversationId, handoff, newestSeq } = found;
    const afterSeq = firstSeq(found, call, after, clock.nowMs());
    const { messages } =
      newestSeq > afterSeq ? await store.handoffs.listLive(conversationId, afterSeq, pageSize) : { messages: [] };
    live.notePoll(conversationId, stateMark(handoff));
    return {
      state: toWireState(toVisitorState(handoff, companion.name)),
      data: messages.map((message) => toWireLiveMessage(message, companion.name)),
      cursor: messages.at(-1)?.seq ?? afterSeq,
    };
  }

  if (waitMs > 0) await waitForNews(services, call, after, waitMs);
  return await answer();
}

/** Resolves when there is something to answer, or the time is over; immediately where no one may wait. */
async function waitForNews(services: Services, call: LiveCall, after: number, waitMs: number): Promise<void> {
  const { live, clock, ids } = services;
  const { request, companion, key, right } = call;
  const slot = takeSlotIfFree(services, call.address);
  if (slot === null) return;
  const news = Promise.withResolvers<LiveEvent | null>();
  let listening: Listening | null = null;
  const stop = () => news.resolve(null);
  const timer = setTimeout(stop, waitMs);
  request.signal.addEventListener("abort", stop);
  try {
    listening = await live.listen(key, {
      take(event) {
        if (event.type !== "typing") news.resolve(event);
        return undefined;
      },
    });
    requirePeople(companion, listening?.opened ?? null);
    if (listening === null) throw noConversation();
    const { opened, start } = listening;
    const mark = stateMark(opened.handoff);
    const lastMark = live.notePoll(opened.conversationId, mark);
    const stays = staysOpen(call);
    const afterSeq = firstSeq(opened, call, after, clock.nowMs());
    const hasNews = opened.newestSeq > afterSeq || (lastMark !== null && lastMark !== mark);
    if (hasNews || (!isOutside(opened.handoff) && !stays)) return;
    await start({ afterSeq, stays, isSilent: true, right });
    const event = await whileSilent(contextOf(request, ids), news.promise);
    if (event?.type !== "end") return;
    if (event.reason === "visitor_unverified") throw unverified();
    if (event.reason === "unavailable") throw ended("The wait was ended.");
  } finally {
    clearTimeout(timer);
    request.signal.removeEventListener("abort", stop);
    listening?.leave();
    slot.release();
  }
}

function takeSlotIfFree({ live }: Services, address: string | null) {
  try {
    return live.takeSlot(address);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
