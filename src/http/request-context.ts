/** What is known of a request before any route sees it; the server records it, guards and error handling read it. */
import type { IdSource } from "../lib/ids.ts";
import type { ClientIp } from "./client-ip.ts";
import type { EventStream } from "./sse.ts";

export interface RequestContext {
  /** Also sent as `X-Request-Id`. */
  readonly requestId: string;
  /** The address of the TCP peer, or null if there is none. */
  readonly socketIp: string | null;
  /** Monotonic. */
  readonly startedMs: number;
  /** Allows the connection to be silent for `seconds`; for streams, which may pause. */
  allowSilence(seconds: number): void;
  /** Set on first use: see `clientOf`. */
  client: ClientIp | null;
  /** The stream of the response: the request ends with it. */
  stream: EventStream | null;
}

// A WeakMap, because Elysia's context does not exist yet when the socket is known, and headers could be forged.
const contextByRequest = new WeakMap<Request, RequestContext>();

export function noteContext(request: Request, facts: RequestContext): void {
  contextByRequest.set(request, facts);
}

/** The context of the request; a request without a socket (a test's `app.handle`) gets a new one. */
export function contextOf(request: Request, ids: Pick<IdSource, "uuid">): RequestContext {
  const known = contextByRequest.get(request);
  if (known) return known;
  const facts: RequestContext = {
    requestId: ids.uuid(),
    socketIp: null,
    startedMs: performance.now(),
    allowSilence: () => {},
    client: null,
    stream: null,
  };
  contextByRequest.set(request, facts);
  return facts;
}
