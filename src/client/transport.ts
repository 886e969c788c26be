/** Calls of the management API: addresses, headers, and further tries where they can do no harm. */
import { CompanionError } from "../reply-reader/errors.ts";
import { type Fetch, type OpenedResponse, request } from "../reply-reader/request.ts";
import { sleep, type Wait } from "../reply-reader/waiting.ts";
import { CompaniondError, toCompaniondError } from "./errors.ts";
import { makeUuid } from "./ids.ts";

export interface TransportOptions {
  /** Where the server is, such as `https://chat.example.com`. */
  baseUrl: string;
  /** An API key, `cmp_live_…`. It must never be in a browser. */
  apiKey: string;
  /** Default: the global one. */
  fetch?: Fetch | undefined;
  /** Silence that ends a try with `timeout`; default 30 000. While a reply is awaited the server speaks every 10 s. */
  timeoutMs?: number | undefined;
  /** Further tries after a limit (429), a server that is away (503) or a broken connection; default 2. */
  maxRetries?: number | undefined;
  /** The longest wait between two tries, also where `Retry-After` asks for it; default 60 000. A longer one is thrown. */
  maxRetryWaitMs?: number | undefined;
  /** Waits between two tries; for tests. Rejects with the signal's reason once that fires. */
  sleep?: Wait | undefined;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason (an `AbortError`). */
  signal?: AbortSignal | undefined;
  /** Silence of the server that ends a try with `timeout`; default the client's. */
  timeoutMs?: number | undefined;
  /** Further tries, only where they cannot do a thing twice; default the client's. */
  maxRetries?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Default: a random one for each call. One of your own holds across calls and restarts, for 24 hours. */
  idempotencyKey?: string | undefined;
}

export function creationHeaders({ idempotencyKey }: CreateOptions): Record<string, string> {
  return idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
}

export interface NoteOptions {
  /** Why, for the companion's versions: at most 500 characters. */
  note?: string | undefined;
}

export function noteHeaders({ note }: NoteOptions): Record<string, string> {
  return note === undefined ? {} : { "x-change-note": encodeURIComponent(note) };
}

export interface ChangeOptions extends CallOptions {
  /** An `ETag`: the change is made only to that version; otherwise it is `precondition_failed`. */
  ifMatch?: string | undefined;
}

/** What a change of one version is sent with: the second time, it would no longer be that version. */
export function condition({ ifMatch, ...noted }: ChangeOptions & NoteOptions): Pick<ApiCall, "headers" | "isOnce"> {
  const headers = noteHeaders(noted);
  return ifMatch === undefined ? { headers } : { headers: { "if-match": ifMatch, ...headers }, isOnce: true };
}

type QueryValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly unknown[]
  | { readonly [field: string]: unknown };
/**
 * An object is a filter by its fields, `metadata.plan=pro`; several values are sent one by one. What is null or undefined
 * is not sent.
 */
export type Query = { readonly [name: string]: QueryValue };

export interface ApiCall {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parts of the path, each of which is escaped. */
  path: readonly string[];
  /** What follows these, as it is. */
  tail?: string;
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: object | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Another content than JSON. */
  text?: { type: string; content: string } | undefined;
  /** The same, with its own type. A form's boundary is a new one at each try, its name is not. */
  form?: FormData | Blob | undefined;
  /** Once more, it could do another thing than the first time: then only a refusal is tried again. */
  isOnce?: boolean;
  /** After a cut the caller reconnects automatically. */
  isFollowed?: boolean;
}

export interface Transport {
  readonly sleep: Wait;
  readonly maxRetryWaitMs: number;
  /** Resolves with a response of status 2xx, whose body the caller must read or close: a cut in it is the caller's. */
  open(call: ApiCall, options: CallOptions): Promise<OpenedResponse>;
  /** Reads the whole body before `take`; a connection that breaks within it is tried again like one that was refused. */
  read<Value>(call: ApiCall, options: CallOptions, take: (text: string, response: Response) => Value): Promise<Value>;
  json<Body>(call: ApiCall, options: CallOptions): Promise<Body>;
  text(call: ApiCall, options: CallOptions): Promise<string>;
  /** For calls whose answer has no body. */
  send(call: ApiCall, options: CallOptions): Promise<void>;
}

export function createTransport(settings: TransportOptions): Transport {
  const { apiKey, timeoutMs = 30_000, maxRetries = 2, maxRetryWaitMs = 60_000, sleep: wait = sleep } = settings;
  const base = settings.baseUrl.replace(/\/+$/, "");
  const fetchIt: Fetch = async (url, init) => {
    const response = await (settings.fetch ?? fetch)(url, init);
    // A refusal that breaks off has no meaning: it is read here, where that is a broken connection.
    return response.ok || response.body === null ? response : new Response(await response.text(), response);
  };

  /** `use` belongs to the try: what it rejects with is tried again as well. */
  async function tryCall<Value>(
    call: ApiCall,
    options: CallOptions,
    use: (opened: OpenedResponse) => Value | Promise<Value>,
  ): Promise<Value> {
    const url = `${base}/${call.path.map(encodeURIComponent).join("/")}${call.tail ?? ""}${toSearch(call.query)}`;
    let wasUnheard = false;
    const tries = {
      ...{ fetch: fetchIt, signal: options.signal, timeoutMs: options.timeoutMs ?? timeoutMs },
      ...{ retries: options.maxRetries ?? maxRetries, maxRetryWaitMs, wait },
      canRetry(error: CompanionError) {
        const canRetry = mayTryAgain(error, call, wasUnheard);
        wasUnheard ||= isUnheard(error);
        return canRetry;
      },
    };
    try {
      return await request(url, toInit(call, apiKey), tries, use);
    } catch (error) {
      // The first try did it, and its answer was lost.
      const isGone = error instanceof CompanionError && error.status === 404;
      if (wasUnheard && call.method === "DELETE" && isGone) return await use(nothing());
      throw toCompaniondError(error);
    }
  }

  const read: Transport["read"] = (call, options, take) =>
    tryCall(call, options, async ({ response, next, close }) => {
      try {
        return take(await next(response.text()), response);
      } finally {
        close();
      }
    });

  return {
    sleep: wait,
    maxRetryWaitMs,
    open: (call, options) => tryCall(call, options, (opened) => opened),
    read,
    text: (call, options) => read(call, options, (text) => text),
    json: <Body>(call: ApiCall, options: CallOptions) => read(call, options, parseAnswer<Body>),
    send: (call, options) => read(call, options, () => undefined),
  };
}

/** What is at the path, with the version that it has: for `ifMatch`. */
export function readVersion<Body>(transport: Transport, path: readonly string[], options: CallOptions) {
  return transport.read({ method: "GET", path }, options, (text, response) => ({
    found: parseAnswer<Body>(text, response),
    etag: response.headers.get("etag"),
  }));
}

/** The server sends whole JSON: where it was cut, not every proxy and runtime reports that. */
export function parseAnswer<Body>(text: string, { headers }: Response): Body {
  try {
    return JSON.parse(text) as Body;
  } catch (cause) {
    const isCut = headers.get("content-type")?.includes("json") ?? false;
    throw isCut
      ? new CompaniondError("network", { message: "The connection broke inside the answer.", isCut: true, cause })
      : new CompaniondError("bad_response", { message: "The answer is not JSON.", cause });
  }
}

/** A POST is named, so that it does its work once however often it is sent. */
function toInit({ method, body, headers, text, form }: ApiCall, apiKey: string): RequestInit {
  const content = form ?? text?.content ?? (body === undefined ? undefined : JSON.stringify(body));
  const isTyped = content !== undefined && form === undefined;
  return {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json",
      ...(isTyped ? { "content-type": text?.type ?? "application/json" } : {}),
      ...(method === "POST" ? { "idempotency-key": makeUuid() } : {}),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  };
}

export function toSearch(query: Query = {}): string {
  const search = new URLSearchParams();
  // A number's text is that of JSON.
  const add = (name: string, values: unknown) => {
    for (const value of [values].flat()) if (value !== undefined) search.append(name, String(value));
  };
  for (const [name, value] of Object.entries(query)) {
    if (typeof value !== "object" || Array.isArray(value)) add(name, value);
    // Null is a value that metadata can have, but no parameter.
    else for (const [field, wanted] of Object.entries(value ?? {})) add(`${name}.${field}`, wanted);
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** Whether the server did it is unknown. */
function isUnheard({ isCut, status, requestId }: CompanionError): boolean {
  return isCut || (status >= 500 && requestId === null);
}

function mayTryAgain(error: CompanionError, call: ApiCall, wasUnheard: boolean): boolean {
  const { code, status, requestId, isCut } = error;
  if (status === 429 || (status === 503 && requestId !== null)) return true;
  // The first try, whose answer was lost, is still at work.
  if (code === "conflict" && wasUnheard && call.method === "POST") return true;
  return isUnheard(error) && call.isOnce !== true && !(isCut && call.isFollowed === true);
}

function nothing(): OpenedResponse {
  return { response: new Response(null, { status: 204 }), next: (part) => part, close: () => undefined };
}
