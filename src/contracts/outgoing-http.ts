/**
 * Requests to URLs that owners name: deliveries of webhooks, tools, MCP servers. `outgoing-http` is the engine.
 *
 * Public hosts over https alone, and what the operator lists (`COMPANIOND_PRIVATE_TARGETS`), over http too. A name is
 * resolved for each request, every address of it is checked, and the connection goes to one that was checked; the
 * certificate is checked against the name. Link-local addresses, and this server's own unless they are listed, are refused.
 * No redirect is followed: a 3xx is an answer like any other. Nothing is sent twice, and no connection is kept.
 *
 * What goes wrong is a value. A call only rejects with the signal's reason. How many run at a time is for callers to bound.
 */

export interface OutgoingRequest {
  /** As an owner wrote it; a fragment is not sent. */
  readonly url: string;
  readonly method: "GET" | "POST" | "DELETE";
  /**
   * ASCII, one line each, 8 KiB at most; nothing that frames a request or declares its compression (`host`,
   * `content-length` …). `user-agent` is `companiond` unless it is here.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** A text is sent as UTF-8. None unless given; a `POST` without one sends an empty one. */
  readonly body?: string | Uint8Array;
  /** The lookup included. Of `open` until the head has arrived, of `send` until the end of the body. */
  readonly timeoutMs: number;
}

/**
 * - `url`: malformed, too long, of another scheme, with credentials, with the port of another protocol, or it does not lead
 *   to a host that may be reached. An unregistered name is this as well: owners must not find out which names of our
 *   network exist.
 * - `headers`: a header that must not be sent.
 * - `not_connected`: the request cannot have arrived. The name could not be resolved at present, no address takes a
 *   connection, or the certificate is not valid.
 * - `timeout`: it may have arrived, and no answer came in time.
 * - `broken`: it may have arrived; the connection broke, or what came is not HTTP or, to `send`, compressed.
 * - `too_large`: of `send`, the body is longer than `maxBytes`.
 */
export type OutgoingFailureKind = "url" | "headers" | "not_connected" | "timeout" | "broken" | "too_large";

export interface OutgoingFailure {
  readonly outcome: "failed";
  readonly kind: OutgoingFailureKind;
  /** Of the response, where its head had come; null before that. */
  readonly status: number | null;
  /** One sentence for the owner, without addresses of our network and words of the other side. */
  readonly reason: string;
}

interface OutgoingHead {
  readonly status: number;
  /** Names in lower case; of repeated ones the last. At most 64 KiB, and not trusted. */
  readonly headers: ReadonlyMap<string, string>;
}

export interface OpenedResponse extends OutgoingHead {
  readonly outcome: "opened";
  readonly body: OutgoingBody;
}

/** To be iterated over once, left or closed; until then, and until the end, the connection is open. */
export interface OutgoingBody extends AsyncIterable<Uint8Array> {
  /**
   * Closes the connection. Who waits for more then finds the end. Harmless after the end, as is leaving the loop.
   */
  close(): void;
}

/** What iterating rejects with where the body breaks; the signal's reason aside, nothing else. */
export class OutgoingBreak extends Error {
  readonly failure: OutgoingFailure;

  constructor(failure: OutgoingFailure, cause: unknown) {
    super(failure.reason, { cause });
    this.name = "OutgoingBreak";
    this.failure = failure;
  }
}

export interface ReceivedResponse extends OutgoingHead {
  readonly outcome: "received";
  readonly body: Uint8Array;
}

export interface OutgoingHttp {
  /**
   * What of a URL can be refused before its name is resolved: one sentence for the owner who enters it, or null. A name
   * that passes may still lead to addresses that are refused.
   */
  findFault(url: string): string | null;
  /**
   * Resolves once the head is there. The body is read at the pace of who iterates over it, without bounds in size and time
   * but theirs and the signal's, which ends it too. It is as it came: a server may have compressed it, though not asked to.
   */
  open(request: OutgoingRequest, signal: AbortSignal): Promise<OpenedResponse | OutgoingFailure>;
  send(
    request: OutgoingRequest & { readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<ReceivedResponse | OutgoingFailure>;
}
