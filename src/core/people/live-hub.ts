/** Everyone who listens at this instance, and what is new for them: from here, and from other instances. */
import type { Announcements } from "../../contracts/announcements.ts";
import type { HandoffStore } from "../../contracts/store/handoffs.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { InboxListeners } from "./inbox-listeners.ts";
import { createListenerRights } from "./listener-rights.ts";
import { ListenerSlots, type SlotLimits } from "./listener-slots.ts";
import type { Listening, LiveHub, LiveListener, Typing } from "./live.ts";
import { Subscriber } from "./live-channel.ts";
import { LiveChannels } from "./live-channels.ts";
import { createReached } from "./reached.ts";
import { createTypingMarks, writeTyping } from "./typing-marks.ts";

export interface LiveHubOptions {
  readonly store: Pick<HandoffStore, "findLive" | "listLive" | "listChanged" | "recordSeen">;
  readonly announcements: Announcements;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly limits: SlotLimits;
  /** See `CompanionStore`. */
  getChangeMark(): Promise<number>;
  lookEveryMs?: number | undefined;
  /** From 0 to below 1. */
  random?(): number;
  /** Calls the function each second until the returned one is called; replaced in tests. */
  everySecond?(tick: () => void): () => void;
}

/** Listeners come back after 15 to 20 minutes, not all at the same time: so they spread over the instances again. */
const againMs = { least: 15 * 60_000, more: 5 * 60_000 };
/** To read thousands of listeners each second would cost as much as their pings. */
const againEachSeconds = 10;
const sweepEachSeconds = 5;
const seenEachSeconds = 20;

function eachSecond(tick: () => void): () => void {
  const timer = setInterval(tick, 1_000);
  return () => clearInterval(timer);
}

/** One ticker for all: no listener has a timer, query or commit of its own. */
export function createLiveHub(options: LiveHubOptions): LiveHub {
  const { store, announcements, clock, log, random = Math.random, everySecond = eachSecond } = options;
  const channels = new LiveChannels({ store, log });
  /** With when they are to come back. */
  const listeners = new Map<Subscriber, number>();
  /** Those whose visitor's token ends, with when. */
  const expiring = new Map<Subscriber, number>();
  const slots = new ListenerSlots(options.limits);
  const rights = createListenerRights({ ...options, nowMs: () => clock.nowMs() });
  const inbox = new InboxListeners(rights);
  const marks = createTypingMarks(() => clock.monotonicMs());
  const reached = createReached(() => clock.monotonicMs());
  let stopTicking: (() => void) | null = null;
  let seconds = 0;
  let mayHaveMissed = false;

  function announce(text: string): void {
    if (announcements.isShared) announcements.send(text);
  }

  function receive(text: string): void {
    const [kind, one = "", other = "", wrote = ""] = text.split(" ", 4);
    if (kind === "changed") {
      endTyping(other, wrote);
      if (other !== "") channels.noteChanged(other);
      inbox.send(one, { type: "changed", conversationId: other || null });
    } else if (kind === "erased") noteErasedHere(one || null);
    else if (kind === "presence") inbox.send(one, { type: "presence" });
    else if (kind === "reached") reached.note(one);
    else if (kind === "typing") noteTypingHere(JSON.parse(text.slice("typing ".length)) as Typing);
  }

  announcements.onReceived((received) => {
    if (received === "may_have_missed") mayHaveMissed = true;
    else receive(received.text);
  });

  function noteErasedHere(companionId: string | null): void {
    // Which they were is not known: the next tick finds it out.
    if (companionId === null) mayHaveMissed = true;
    else channels.noteErased(companionId);
  }

  function noteTypingHere(typing: Typing): void {
    if (channels.find(typing.conversationId) === undefined && !inbox.has(typing.accountId)) return;
    marks.note(typing);
    sendTyping(typing);
  }

  function sendTyping(typing: Typing): void {
    const { by, isTyping, conversationId, accountId } = typing;
    const subscribers = by === "person" ? channels.find(conversationId)?.subscribers : undefined;
    for (const subscriber of subscribers ?? []) {
      if (subscriber.isLive) void subscriber.send({ type: "typing", isTyping });
    }
    inbox.send(accountId, { type: "typing", typing });
  }

  /** Before the message itself is sent. */
  function endTyping(conversationId: string, wrote: string | null): void {
    const ended = wrote === "visitor" || wrote === "person" ? marks.clear({ conversationId, by: wrote }) : null;
    if (ended !== null) sendTyping(ended);
  }

  function keepTicking(): void {
    stopTicking ??= everySecond(() => void tick());
  }

  async function listen(key: ConversationKey, taker: LiveListener): Promise<Listening | null> {
    const subscriber = new Subscriber(taker);
    const channel = channels.open(key);
    channel.add(subscriber);
    const againAtMs = clock.monotonicMs() + againMs.least + random() * againMs.more;
    let endWatch = () => {};
    function leave(): void {
      subscriber.isOver = true;
      endWatch();
      listeners.delete(subscriber);
      expiring.delete(subscriber);
      channel.subscribers.delete(subscriber);
      channels.closeIfEmpty(channel);
    }
    try {
      await channel.refresh();
    } catch (error) {
      leave();
      throw error;
    }
    const { opened } = channel;
    if (opened === null) {
      leave();
      return null;
    }
    const { conversationId } = opened;
    channels.index(channel, conversationId);
    listeners.set(subscriber, againAtMs);
    keepTicking();
    return {
      opened,
      leave,
      async start({ afterSeq, stays, isSilent = false, right }) {
        if (subscriber.isOver) return;
        endWatch = rights.watch(right, () => subscriber.end("unavailable"));
        if (right.tokenEndsAtMs !== null) expiring.set(subscriber, right.tokenEndsAtMs);
        announce(`reached ${conversationId}`);
        subscriber.seq = afterSeq;
        subscriber.stays = stays;
        subscriber.sendState(opened.handoff, isSilent);
        await channel.catchUp(subscriber);
        if (marks.has({ conversationId, by: "person" })) void subscriber.send({ type: "typing", isTyping: true });
      },
    };
  }

  async function tick(): Promise<void> {
    seconds++;
    const [nowMs, wallMs] = [clock.monotonicMs(), clock.nowMs()];
    for (const [subscriber, endsAtMs] of expiring) if (wallMs >= endsAtMs) subscriber.end("visitor_unverified");
    if (seconds % againEachSeconds === 0) {
      for (const [subscriber, againAtMs] of listeners) if (nowMs >= againAtMs) subscriber.end("again");
    }
    for (const typing of marks.lapse()) sendTyping(typing);
    reached.lapse();
    channels.readAgain();
    if (listeners.size === 0 && inbox.size === 0) stop();
    // A part of them each second: all of them together would crowd out what others wait for.
    if (announcements.isShared) {
      for (const id of channels.listPart(seconds, seenEachSeconds)) announcements.send(`reached ${id}`);
    }
    if (seconds % seenEachSeconds === 0) void noteWhoIsHere();
    const isSweep = announcements.isShared && seconds % sweepEachSeconds === 0;
    if (isSweep || mayHaveMissed) await sweep();
  }

  function stop(): void {
    stopTicking?.();
    stopTicking = null;
  }

  async function noteWhoIsHere(): Promise<void> {
    const members = inbox.listMembers();
    const seen = members.length === 0 ? null : store.recordSeen(members, clock.nowMs());
    await seen?.catch((error) => log.warn("who is present could not be kept", { error }));
    // Whom keys name is present until a time, which no one reports.
    inbox.sendAll({ type: "presence" });
  }

  /** Others' announcements may be lost, so that the store is asked as well. */
  async function sweep(): Promise<void> {
    mayHaveMissed = false;
    inbox.sendAll({ type: "changed", conversationId: null });
    try {
      await channels.sweep();
    } catch {
      // The store is away, and counts that itself: the next tick asks again.
      mayHaveMissed = true;
    }
  }

  return {
    noteChanged({ accountId, conversationId, key, wrote = null }) {
      endTyping(conversationId ?? "", wrote);
      if (key !== undefined) channels.noteChangedKey(key);
      else if (conversationId !== null) channels.noteChanged(conversationId);
      inbox.send(accountId, { type: "changed", conversationId });
      announce(`changed ${accountId} ${conversationId ?? ""} ${wrote ?? ""}`);
    },
    noteErased(companionId) {
      noteErasedHere(companionId);
      announce(`erased ${companionId ?? ""}`);
    },
    noteTyping(typing) {
      noteTypingHere(typing);
      announce(writeTyping(typing));
    },
    notePresence(accountId) {
      inbox.send(accountId, { type: "presence" });
      announce(`presence ${accountId}`);
    },
    isReached: (conversationId) => channels.find(conversationId) !== undefined || reached.has(conversationId),
    takeSlot: (address) => slots.take(address),
    listen,
    notePoll(conversationId, state) {
      announce(`reached ${conversationId}`);
      return reached.notePoll(conversationId, state);
    },
    listenInbox({ accountId, memberId, right }, listener) {
      const leave = inbox.add(accountId, memberId, right, listener);
      keepTicking();
      return leave;
    },
    rights: rights.checks,
    endAll() {
      for (const subscriber of listeners.keys()) subscriber.end("unavailable");
      inbox.sendAll({ type: "end", reason: "unavailable" });
    },
    get size() {
      return slots.size;
    },
    stop() {
      stop();
      rights.stop();
    },
  };
}
