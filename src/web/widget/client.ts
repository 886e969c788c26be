/** What the panel asks of the server: plainly, and by the SDK where a reply was cut, a visitor is known, or work is asked. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { cancelReply, decide, postMessage } from "../../reply-reader/follow-reply.ts";
import { type ReplyListeners, readReply } from "../../reply-reader/read-reply.ts";
import type { ChallengeSolver } from "../sdk/challenges.ts";
import type { TokenSource } from "../sdk/identity.ts";
import { createIds, sessionKey, subKey, visitorKey } from "../sdk/ids.ts";
import type { Companion, ConversationWithMessages, PendingReply } from "../sdk/index.ts";
import { joinSignals } from "../sdk/signals.ts";
import { openStorage } from "../sdk/storage.ts";
import { nameMessage } from "../sdk/turn.ts";
import { openLine, pause } from "../sdk/wakefulness.ts";
import type { Decision } from "./conversation.ts";
import type { PanelHost } from "./panel-host.ts";

/** How long a message may wait for the visitor's new token before that shows. */
export const patienceMs = 300;
/** Before the first try to come back to a reply. */
const firstWaitMs = 1000;
const loadTries = 3;

export interface DecisionOptions extends ReplyListeners {
  /** The stop button. */
  stop: AbortSignal;
  /** The reply goes on without this page. */
  leave: AbortSignal;
}

export interface ReplyOptions extends DecisionOptions {
  /** What is drawn of it already. */
  received: string;
  /** The server has never heard of it. */
  isNew: boolean;
  onConnection(isConnected: boolean): void;
  onChallenge(isSolving: boolean): void;
}

export function createClient(host: PanelHost) {
  const { connection, baseUrl, token } = host;
  const storage = openStorage("localStorage");
  const ids = createIds(token, storage);
  let visitor: TokenSource = null;
  let sdk: Promise<Companion> | null = null;

  function getSdk(): Promise<Companion> {
    if (sdk) return sdk;
    const loading = loadSdk();
    loading.catch(() => {
      sdk = null;
    });
    sdk = loading;
    return loading;
  }

  async function loadSdk(): Promise<Companion> {
    type Sdk = typeof import("../sdk/index.ts");
    const loading = host.load<Sdk>(SDK_FILE, SDK_INTEGRITY, "sdk.js").catch((cause) => {
      throw new CompanionError("network", { cause, isCut: true });
    });
    const { createCompanion } = await loading;
    const companion = createCompanion({
      ...{ baseUrl, token, storage, fetch: host.fetch },
      async solveChallenge(...task) {
        type Solver = { solveChallenge: ChallengeSolver };
        return (await host.load<Solver>(CHALLENGE_FILE, CHALLENGE_INTEGRITY, "challenge.js")).solveChallenge(...task);
      },
    });
    if (visitor) companion.identify(visitor);
    return companion;
  }

  /** The line that broke may be the one by which the file would come. */
  async function insistOnSdk(waitMs: number, signal: AbortSignal): Promise<Companion> {
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    stopped.catch(() => {});
    for (let attempt = 1; ; attempt++) {
      await pause(attempt > 1 ? firstWaitMs : waitMs, signal);
      try {
        return await Promise.race([getSdk(), stopped]);
      } catch (error) {
        if (signal.aborted || attempt === loadTries) throw error;
      }
    }
  }

  let isAsked = false;

  /** Asked since the configuration was loaded: from then on by the SDK immediately. */
  function isAskedNow(error: unknown): boolean {
    const isNow = (error as CompanionError).code === "challenge_required";
    isAsked ||= isNow;
    return isNow;
  }

  /** Whether a request is more than that. */
  const isHard = (): boolean => !!(visitor || isAsked || host.source.config?.challenge);

  const isKnown = () => !!storage.getItem(subKey(token));

  return {
    get sessionId() {
      return ids.sessionId;
    },
    /** Whether there is one already: to ask for its name makes one. */
    get hasSession() {
      return !!storage.getItem(sessionKey(token));
    },
    newConversation: ids.newConversation,
    resumeConversation: ids.resumeConversation,

    get visitor() {
      return visitor;
    },

    /** What this browser keeps is a known visitor's. */
    get isKnown() {
      return isKnown();
    },

    /** The same, and the page does not say that this is the one. */
    get isForeign() {
      return !visitor && isKnown();
    },

    identify(next: TokenSource): void {
      visitor = next;
      if (!next) for (const key of [visitorKey, sessionKey, subKey]) storage.removeItem(key(token));
      sdk?.then((companion) => companion.identify(next)).catch(() => {});
    },

    /** Where a plain request does not do. */
    getSdk,

    /** Resolves once the ids are the visitor's own. */
    async ready(): Promise<void> {
      if (visitor) await (await getSdk()).ready();
    },

    /** Yields what follows `received`. */
    async *reply(
      reply: PendingReply,
      { received, isNew, stop, leave, ...handlers }: ReplyOptions,
    ): AsyncGenerator<string, void, undefined> {
      const message = nameMessage(reply, ids.visitorId);
      const joined = joinSignals(stop, leave);
      const call = { signal: stop, leave, ...handlers };
      let isOurs = true;
      try {
        let isBySdk = isNew && isHard();
        if (isNew && !isBySdk) {
          const line = openLine(joined.signal);
          try {
            const options = { ...handlers, events: true as const, signal: line.signal };
            const opened = await postMessage(connection, message, options);
            for await (const fragment of readReply(opened, options)) {
              received += fragment;
              yield fragment;
            }
            return;
          } catch (error) {
            isBySdk = isAskedNow(error);
            if (joined.signal.aborted || !(isBySdk || (error as CompanionError).isCut)) throw error;
            handlers.onConnection(isBySdk);
          } finally {
            line.close();
          }
        }
        const companion = await insistOnSdk(isNew && !isBySdk ? firstWaitMs : 0, joined.signal);
        isOurs = false;
        yield* isBySdk
          ? companion.chat(reply.message, { ...call, messageId: reply.messageId })
          : companion.resume({ ...call, reply, received });
      } finally {
        joined.release();
        if (stop.aborted && isOurs) void cancelReply(connection, message, pause);
      }
    },

    /** Decides on a call, and yields how the reply goes on. */
    async *decide(
      { callId, approve }: Pick<Decision, "callId" | "approve">,
      { stop, leave, ...handlers }: DecisionOptions,
    ): AsyncGenerator<string, void, undefined> {
      const joined = joinSignals(stop, leave);
      const call = { ...handlers, signal: joined.signal };
      const body = { approve, session_id: ids.sessionId, visitor_id: ids.visitorId };
      try {
        yield* visitor
          ? (await getSdk()).confirm(callId, approve, call)
          : decide(connection, { callId, body }, openLine, call);
      } finally {
        joined.release();
      }
    },

    async voice(): Promise<string> {
      try {
        if (!isHard()) return String((await connection.load("/voice-token", { method: "POST" }, {})).signed_url);
      } catch (error) {
        if (!isAskedNow(error)) throw error;
      }
      return (await (await getSdk()).voice()).signedUrl;
    },

    /** The newest conversation of a visitor who is known, on whichever device it was; null where there is none. */
    async findConversation(): Promise<ConversationWithMessages | null> {
      const companion = await getSdk();
      const [newest] = (await companion.conversations({ limit: 1 })).data;
      return newest ? companion.conversation(newest.id) : null;
    },
  };
}

export type Client = ReturnType<typeof createClient>;
