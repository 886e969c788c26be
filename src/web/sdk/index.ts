/** The client of companiond's public interface, for websites that bring their own chat: no dependencies, no UI. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { decide } from "../../reply-reader/follow-reply.ts";
import { type ChallengeSolver, withChallenges } from "./challenges.ts";
import {
  type CallOptions,
  type CompanionConfig,
  type ConfigOptions,
  type ConnectionOptions,
  createConnection,
  isHarmlessAgain,
} from "./connection.ts";
import { type ConversationPage, type ConversationWithMessages, checkList } from "./history.ts";
import { createIdentity, type TokenSource } from "./identity.ts";
import { createIds, type Ids, makeUuid } from "./ids.ts";
import { createPendingMessages, type PendingReply } from "./pending.ts";
import { createPeople, type People } from "./people.ts";
import { joinSignals } from "./signals.ts";
import { createConfigCache, openStorage, type TextStorage } from "./storage.ts";
import { type ChatOptions, type ReplyOptions, type ResumeOptions, takeTurn } from "./turn.ts";
import { openLine } from "./wakefulness.ts";

export {
  type Challenge,
  type ClientErrorCode,
  CompanionError,
  type CompanionErrorCode,
  type ReplyEndCode,
  type ServerErrorCode,
} from "../../reply-reader/errors.ts";
export type { CitedSource, Confirmation, ConversationState, ToolCallState } from "../../reply-reader/reply-reader.ts";
export type { ChallengeSolver } from "./challenges.ts";
export type { CallOptions, CompanionConfig, ConfigOptions } from "./connection.ts";
export type { ConversationPage, ConversationSummary, ConversationWithMessages, StoredMessage } from "./history.ts";
export type { TokenSource } from "./identity.ts";
export type { LiveEvent, LiveMessage, LiveOptions } from "./live.ts";
export type { PendingReply } from "./pending.ts";
export type { Contact, People, PersonAsked, Rating } from "./people.ts";
export type { TextStorage } from "./storage.ts";
export type { ChatOptions, ReplyOptions, ResumeOptions } from "./turn.ts";

export interface CompanionOptions extends ConnectionOptions {
  /** Keeps the ids; default `localStorage`, or memory where that is blocked. */
  storage?: TextStorage;
  /** The waits before each try to come back to a reply; default 1000, 2000 and 4000. An empty list: it never does. */
  reconnectDelaysMs?: readonly number[] | undefined;
  /** Solves what companions with a `challenge` ask; default `solveChallenge` of `/challenge.js`, loaded when it is needed. */
  solveChallenge?: ChallengeSolver;
}

/** What opens one voice session; short-lived. */
export interface VoiceSession {
  signedUrl: string;
  agentId: string;
}

export interface Companion extends Ids, People {
  /** Null, or the reply that was under way when the page went away, or whose connection was lost for good. */
  readonly pending: PendingReply | null;
  config(options?: ConfigOptions): Promise<CompanionConfig>;
  /**
   * Sends the message and yields the reply, fragment by fragment, each once: after a cut it comes back automatically. It ends
   * normally only when the reply is complete; one that was cut off throws `CompanionError` with the code `incomplete`, and
   * the reason as its `cause` where there is one. Leaving the loop and the signal are the stop button: they end the reply
   * at the server, which keeps what there is of it.
   *
   * A reply that ended incomplete is not requested again automatically: the same message sent once more is a new message, and
   * the model sees both. Only where the error has `isCut` the reply may still be had: by `resume`, or by the same
   * `messageId`.
   */
  chat(message: string, options?: ChatOptions): AsyncGenerator<string, void, undefined>;
  /**
   * Goes on with a reply, such as after a reload: yields it from its first character, or what follows `received`. Ends
   * immediately where none is pending. Where the server had lost it and wrote another one, which cannot go on after `received`,
   * the error's `cause` is `replaced`; without `received` it yields that one.
   */
  resume(options?: ResumeOptions): AsyncGenerator<string, void, undefined>;
  /**
   * Decides on a call that `onConfirm` named, in the conversation of now: within ten minutes, and once. Yields how the reply
   * goes on, which cannot be resumed: leaving the loop and the signal end it. Throws `conflict` where it was decided on or
   * is too old, and `not_found` where it is gone.
   */
  confirm(callId: string, approve: boolean, options?: ReplyOptions): AsyncGenerator<string, void, undefined>;
  /** Asks for a voice session; a new one is needed for each. */
  voice(options?: CallOptions): Promise<VoiceSession>;
  /**
   * Identifies the visitor, by a token that the website's server has signed, or by a function that fetches one: it is
   * asked when the first request needs it, and again a minute before the token ends or when the server refuses it. Of a
   * function that fails, requests reject with `identify_failed`. What the visitor said before without a token is taken
   * along; what another one left in this browser is forgotten.
   *
   * Where a function returns null, no one is signed in: requests go without a token, and an anonymous visitor's
   * ids stay. After a visitor with a token it signs out, as `null` does.
   *
   * `null` signs out: whatever this browser keeps of the companion is forgotten, replies under way are left, and new ids
   * begin.
   */
  identify(visitor: TokenSource): void;
  /** Resolves once the visitor's token is there and `sessionId` is theirs, without one immediately; rejects as a request would. */
  ready(options?: CallOptions): Promise<void>;
  /** A verified visitor's own conversations, newest first. */
  conversations(options?: CallOptions & { limit?: number; cursor?: string }): Promise<ConversationPage>;
  /** One of them, with its newest messages, oldest first; `cursor` leads to older ones. */
  conversation(id: string, options?: CallOptions & { cursor?: string }): Promise<ConversationWithMessages>;
}

/** What the server sends to who asks for it. */
const eventNames = ["onSources", "onTool", "onConfirm", "onState", "onOffer"] as const;

export function createCompanion(options: CompanionOptions): Companion {
  const { token, storage = openStorage("localStorage") } = options;
  const ids = createIds(token, storage);
  const pending = createPendingMessages(token, storage);
  const kept = createConfigCache(storage, token, options.baseUrl.replace(/\/+$/, ""));
  const plain = createConnection(options);
  const identity = createIdentity(plain, { token, storage, timeoutMs: options.timeoutMs ?? 30_000 });
  const { connection } = identity;
  const solve: ChallengeSolver =
    options.solveChallenge ??
    (async (...task) => {
      const url = options.baseUrl.replace(/\/*$/, "/challenge.js");
      return (await import(/* @vite-ignore */ /* webpackIgnore: true */ url)).solveChallenge(...task);
    });

  const follow = (
    reply: PendingReply,
    isNew: boolean,
    { onChallenge, ...call }: ResumeOptions,
  ): AsyncGenerator<string, void, undefined> =>
    takeTurn(withChallenges(connection, solve, onChallenge), pending, reply, ids.visitorId, {
      ...call,
      isNew,
      events: eventNames.some((name) => call[name]) || undefined,
      gone: identity.gone,
      delaysMs: options.reconnectDelaysMs,
    });

  return {
    ...createPeople(identity, ids, (onChallenge) => withChallenges(connection, solve, onChallenge)),

    get visitorId() {
      return ids.visitorId;
    },
    get sessionId() {
      return ids.sessionId;
    },
    newConversation: ids.newConversation,
    resumeConversation: ids.resumeConversation,

    async config({ lastKnown, ...call } = {}) {
      try {
        const config = await plain.config(call);
        if (lastKnown) kept.keep(config);
        return config;
      } catch (error) {
        if (!lastKnown || !(error instanceof CompanionError)) throw error;
        // Revoked, or not for this website.
        if (!isHarmlessAgain(error)) kept.keep(null);
        const config = kept.read();
        if (!config) throw error;
        return config;
      }
    },

    get pending() {
      return pending.read();
    },
    identify: identity.identify,
    ready: ({ signal } = {}) => identity.settle(signal),

    async *chat(message, call = {}) {
      await identity.settle(call.signal);
      yield* follow({ messageId: call.messageId ?? makeUuid(), sessionId: ids.sessionId, message }, true, call);
    },

    async *resume(call = {}) {
      await identity.settle(call.signal);
      const reply = call.reply ?? pending.read();
      if (reply) yield* follow(reply, false, call);
    },

    async *confirm(callId, approve, { signal, ...call } = {}) {
      await identity.settle(signal);
      const joined = joinSignals(signal, identity.gone);
      const body = { approve, session_id: ids.sessionId, visitor_id: ids.visitorId };
      try {
        yield* decide(connection, { callId, body }, openLine, { ...call, signal: joined.signal });
      } finally {
        joined.release();
      }
    },

    async voice(call = {}) {
      const { signed_url, agent_id } = await withChallenges(connection, solve).load(
        "/voice-token",
        { method: "POST" },
        call,
      );
      if (typeof signed_url !== "string" || typeof agent_id !== "string") {
        throw new CompanionError("bad_response");
      }
      return { signedUrl: signed_url, agentId: agent_id };
    },

    async conversations({ limit, cursor, ...call } = {}) {
      const query = toQuery({ limit, cursor });
      const page = await connection.load(`/conversations?${query}`, {}, call, isHarmlessAgain);
      return checkList<ConversationPage>(page, "data");
    },

    async conversation(id, { cursor, ...call } = {}) {
      const query = toQuery({ messages_cursor: cursor });
      const path = `/conversations/${encodeURIComponent(id)}?${query}`;
      const found = await connection.load(path, {}, call, isHarmlessAgain);
      return checkList<ConversationWithMessages>(found, "messages");
    },
  };
}

/** Via JSON, which leaves out what is undefined. */
function toQuery(fields: object): URLSearchParams {
  return new URLSearchParams(JSON.parse(JSON.stringify(fields)));
}
