/** The client of companiond's public interface, for websites that bring their own chat: no dependencies, no UI. */
import { CompanionError } from "./errors.ts";
import { createReplyReader } from "./reply-reader.ts";
import { type Fetch, type OpenedResponse, type RequestOptions, request } from "./request.ts";
import { isUuid, makeUuid, openStorage, type TextStorage } from "./storage.ts";

/** How long a server may leave a stream open behind its terminator. */
const endMs = 1000;

export { type ClientErrorCode, CompanionError, type CompanionErrorCode, type ServerErrorCode } from "./errors.ts";
export type { TextStorage } from "./storage.ts";

export interface CompanionOptions {
  /** Where the server is, such as `https://chat.example.com`. */
  baseUrl: string;
  /** The companion's embed token. */
  token: string;
  /** Keeps the ids; default `localStorage`, or memory where that is blocked. */
  storage?: TextStorage;
  /** Default: the global one. */
  fetch?: Fetch;
  /** Silence that ends a request with `timeout`; default 30 000. While a reply is awaited the server speaks every 10 s. */
  timeoutMs?: number;
  /** The longest `Retry-After` that is waited out by itself; default 5000. Longer ones are thrown, with `retryAfterMs`. */
  maxRetryWaitMs?: number;
}

/** The public configuration, as the server sends it. */
export interface CompanionConfig {
  name: string;
  avatar_url: string;
  greeting: string;
  /** `#rrggbb` */
  theme_color: string;
  has_voice: boolean;
  has_text_agent: boolean;
  /** `none`, or the voice-agent provider in use. */
  voice_provider: string;
  /** Suggested first questions; absent where there are none. */
  starters?: string[];
}

/** What opens one voice session; short-lived. */
export interface VoiceSession {
  signedUrl: string;
  agentId: string;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason (an `AbortError`). */
  signal?: AbortSignal;
  /** Retries, only where they are safe; default 2. */
  retries?: number;
}

export interface ConfigOptions extends CallOptions {
  /** As of `fetch`; default `default`: a response that the browser cached in the last minute will do. */
  cache?: NonNullable<RequestInit["cache"]>;
}

export interface Companion {
  /** Identifies the visitor; kept across conversations. */
  readonly visitorId: string;
  /** Identifies the conversation; kept until `newConversation`. */
  readonly sessionId: string;
  /** Begins a new conversation, and returns its id. */
  newConversation(): string;
  /** Goes on with a conversation of this visitor, by its id. Throws `invalid_request` where that is no UUID. */
  resumeConversation(sessionId: string): void;
  config(options?: ConfigOptions): Promise<CompanionConfig>;
  /**
   * Sends the message and yields the reply, fragment by fragment. It ends normally only when the reply is complete:
   * one that was cut off throws `CompanionError` with the code `incomplete`, and the server's reason as its `cause`
   * where there is one. Leaving the loop ends the request.
   */
  chat(message: string, options?: CallOptions): AsyncGenerator<string, void, undefined>;
  /** Asks for a voice session; a new one is needed for each. */
  voice(options?: CallOptions): Promise<VoiceSession>;
}

export function createCompanion(options: CompanionOptions): Companion {
  const { token, storage = openStorage("localStorage"), timeoutMs = 30_000, maxRetryWaitMs = 5000 } = options;
  const base = `${options.baseUrl.replace(/\/+$/, "")}/api/embed/${encodeURIComponent(token)}`;
  // By companion: one owner must not recognise the visitor of another on a page that hosts both.
  const visitorKey = `companion:${token}:visitor`;
  const sessionKey = `companion:${token}:session`;

  function keep(key: string, id: string): string {
    storage.setItem(key, id);
    return id;
  }

  function keptId(key: string): string {
    const kept = storage.getItem(key);
    return isUuid(kept) ? kept : keep(key, makeUuid());
  }

  function requestOptions(call: CallOptions, canRetry: RequestOptions["canRetry"]): RequestOptions {
    return {
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      signal: call.signal,
      timeoutMs,
      retries: call.retries ?? 2,
      maxRetryWaitMs,
      canRetry,
    };
  }

  async function callForJson(
    path: string,
    init: RequestInit,
    options: RequestOptions,
  ): Promise<Record<string, unknown>> {
    const opened = await request(base + path, init, options);
    let isRead = false;
    try {
      const body = Object(await opened.next(opened.response.json()));
      isRead = true;
      return body;
    } finally {
      opened.close(isRead);
    }
  }

  return {
    get visitorId() {
      return keptId(visitorKey);
    },

    get sessionId() {
      return keptId(sessionKey);
    },

    newConversation() {
      return keep(sessionKey, makeUuid());
    },

    resumeConversation(sessionId) {
      if (!isUuid(sessionId)) throw new CompanionError("invalid_request");
      keep(sessionKey, sessionId);
    },

    async config({ cache = "default", ...call } = {}) {
      const canRetry = ({ code, status }: CompanionError) =>
        status >= 500 || status === 429 || code === "network" || code === "timeout";
      const body = await callForJson("", { cache }, requestOptions(call, canRetry));
      if (typeof body.name !== "string") {
        throw new CompanionError("bad_response");
      }
      return body as unknown as CompanionConfig;
    },

    async *chat(message, call = {}) {
      const init = {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ message, session_id: keptId(sessionKey), visitor_id: keptId(visitorKey) }),
      };
      const opened = await request(`${base}/chat`, init, requestOptions(call, isRefusedUnheard));
      // Of a copy: Chromium cancels what may not be stored once it is read to its end, and logs a failed request.
      const stream = opened.response.clone().body?.getReader();
      const reply = createReplyReader();
      let hasText = false;
      try {
        while (stream && !reply.isDone) {
          const { done, value } = await opened.next(stream.read(), "incomplete");
          for (const fragment of reply.push(done ? undefined : value)) {
            hasText = true;
            yield fragment;
          }
          if (done) break;
        }
      } finally {
        if (stream && reply.isDone) void readToEnd(stream, opened.close);
        else opened.close();
      }
      if (reply.isDone) return;
      const requestId = opened.response.headers.get("x-request-id");
      const cause = reply.failure && new CompanionError(reply.failure, { requestId });
      // The server had begun the stream: before any text, this is a refusal that came too late for a status.
      throw cause && !hasText ? cause : new CompanionError("incomplete", { requestId, cause });
    },

    async voice(call = {}) {
      const { signed_url, agent_id } = await callForJson(
        "/voice-token",
        { method: "POST" },
        requestOptions(call, isRefusedUnheard),
      );
      if (typeof signed_url !== "string" || typeof agent_id !== "string") {
        throw new CompanionError("bad_response");
      }
      return { signedUrl: signed_url, agentId: agent_id };
    },
  };
}

/** The rest is ignored, but browsers log a request whose body is left unread as failed. */
async function readToEnd(
  stream: { read(): Promise<{ done: boolean }> },
  close: OpenedResponse["close"],
): Promise<void> {
  const timer = setTimeout(close, endMs);
  try {
    while (!(await stream.read()).done);
    close(true);
  } catch {
    // The connection broke, or the time was over: the reply is whole all the same.
    close();
  }
  clearTimeout(timer);
}

/** The server refused the request before it did anything with it. */
function isRefusedUnheard({ code, retryAfterMs }: CompanionError): boolean {
  return code === "rate_limited" || (code === "unavailable" && retryAfterMs !== null);
}
