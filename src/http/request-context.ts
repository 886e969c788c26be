/** What is known of a request before any route sees it; the server notes it, guards and errors read it. */
import type { IdSource } from "../lib/ids.ts";
import type { ClientIp } from "./client-ip.ts";
import type { EventStream } from "./sse.ts";

export interface RequestContext {
  /** Also sent as `X-Request-Id`. */
  readonly requestId: string;
  /** The address of the TCP peer, or null where there is none. */
  readonly socketIp: string | null;
  /** Monotonic. */
  readonly startedMs: number;
  /** Allows the connection `seconds` of silence; for streams, whose pauses are legitimate. */
  readonly allowSilence: (seconds: number) => void;
  /** Once somebody asked for it: see `clientOf`. */
  client: ClientIp | null;
  /** The stream that answers it: the request ends with it. */
  stream: EventStream | null;
}

// A WeakMap, because Elysia's context does not exist yet where the socket is known, and headers would be forgeable.
const contextByRequest = new WeakMap<Request, RequestContext>();

export function noteContext(request: Request, facts: RequestContext): void {
  contextByRequest.set(request, facts);
}

/** The request's facts; a request that came through no socket (a test's `app.handle`) gets facts of its own. */
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
