/** The requests of one companion: where they go, and what a failure of each means. */
import { CompanionError } from "../../reply-reader/errors.ts";
import { type Fetch, type OpenedResponse, request } from "../../reply-reader/request.ts";

export interface ConnectionOptions {
  /** Where the server is, such as `https://chat.example.com`. */
  baseUrl: string;
  /** The companion's embed token. */
  token: string;
  /** Default: the global one. */
  fetch?: Fetch | undefined;
  /** Silence that ends a request with `timeout`; default 30 000. While a reply is awaited the server speaks every 10 s. */
  timeoutMs?: number | undefined;
  /** The longest `Retry-After` that is waited out automatically; default 5000. Longer ones are thrown, with `retryAfterMs`. */
  maxRetryWaitMs?: number | undefined;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason (an `AbortError`). */
  signal?: AbortSignal | undefined;
  /** Retries, only where they are safe; default 2. */
  retries?: number | undefined;
}

/** The public configuration, as the server sends it. */
export interface CompanionConfig {
  name: string;
  avatar_url: string;
  greeting: string;
  /** `#rrggbb` */
  theme_color: string;
  /** How the owner wants the chat drawn; absent where nothing is set. */
  appearance?: {
    theme?: "light" | "dark" | "auto";
    position?: "right" | "left";
    header?: "plain" | "tinted";
    icon?: "chat" | "avatar";
    /** Pixels. */
    radius?: number;
    teaser?: { text: string; after_seconds: number };
    /** By BCP 47 tag in lower case; before `greeting`. */
    greetings?: Record<string, string>;
  };
  has_voice: boolean;
  has_text_agent: boolean;
  /** `none`, or the voice-agent provider in use. */
  voice_provider: string;
  /** Present where messages may need a proof of work, which `chat` and `voice` do automatically. */
  challenge?: true;
  /** Suggested first questions; absent where there are none. */
  starters?: string[];
  /** Present where people of the team may step in. */
  handoff?: {
    available: boolean;
    /** When someone is available again; null while someone is, and where that is not known. */
    reopens_at: string | null;
    /** Whether visitors may ask for a person. */
    ask: boolean;
    /** Whether people may write in any conversation: listen while the chat is open. */
    listen: boolean;
  };
  /** Present where visitors may leave a contact: while no one is available, or always. */
  leads?: { when: "unavailable" | "always"; consent_text: string };
  /** Present where visitors may rate replies. */
  ratings?: true;
  /** Present where visitors are asked whether it is resolved. */
  ask_resolved?: true;
}

export interface ConfigOptions extends CallOptions {
  /** As of `fetch`; default `default`: a response that the browser cached in the last minute will do. */
  cache?: NonNullable<RequestInit["cache"]>;
  /**
   * Of a `Companion`: keeps the configuration in its storage, and where a limit refuses the request or no answer comes,
   * resolves with what was kept last. Ask again when the chat is opened.
   */
  lastKnown?: boolean;
}

export interface Connection {
  /** Resolves with a response of status 2xx, whose body the caller must read to its end or close. */
  open(path: string, init: RequestInit, call: CallOptions, canRetry?: CanRetry): Promise<OpenedResponse>;
  /** The same for a JSON object; an empty one where there is no body. */
  load(path: string, init: RequestInit, call: CallOptions, canRetry?: CanRetry): Promise<Record<string, unknown>>;
  config(options?: ConfigOptions): Promise<CompanionConfig>;
}

type CanRetry = (error: CompanionError) => boolean;

export function createConnection({
  baseUrl,
  token,
  fetch: given,
  timeoutMs = 30_000,
  maxRetryWaitMs = 5000,
}: ConnectionOptions): Connection {
  const base = `${baseUrl.replace(/\/+$/, "")}/api/embed/${encodeURIComponent(token)}`;
  const connection: Connection = {
    open: (path, init, { signal, retries = 2 }, canRetry = isRefusedUnheard) =>
      request(
        base + path,
        // No cookies, no referrer: the token in the path is all that the server needs.
        { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", ...init },
        { fetch: given ?? fetch, signal, timeoutMs, retries, maxRetryWaitMs, canRetry },
      ),

    load: (...call) => readJson(connection.open(...call)),

    async config({ cache = "default", ...call } = {}) {
      const body = await connection.load("", { cache }, call, isHarmlessAgain);
      if (typeof body.name !== "string") throw new CompanionError("bad_response");
      return body as unknown as CompanionConfig;
    },
  };
  return connection;
}

/** The same connection, whose requests are opened differently. */
export function openBy(open: Connection["open"], { config }: Connection): Connection {
  return { open, load: (...call) => readJson(open(...call)), config };
}

async function readJson(opening: Promise<OpenedResponse>): Promise<Record<string, unknown>> {
  const opened = await opening;
  let isRead = false;
  try {
    const body = Object(opened.response.status === 204 ? null : await opened.next(opened.response.json()));
    isRead = true;
    return body;
  } finally {
    opened.close(isRead);
  }
}

/** The server refused the request before it did anything with it. */
function isRefusedUnheard({ code, retryAfterMs }: CompanionError): boolean {
  return code === "rate_limited" || (code === "unavailable" && retryAfterMs !== null);
}

/** Of a request that only reads. */
export function isHarmlessAgain({ status, isCut }: CompanionError): boolean {
  return status >= 500 || status === 429 || isCut;
}
