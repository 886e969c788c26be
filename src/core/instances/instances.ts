/** The other servers of the same database: passes on what concerns a reply that runs at one of them. */
import type { ConversationKey } from "../../domain/conversation.ts";

/** What a client wants with a reply that it names. The guards of the first server have let it pass. */
export interface ReplyCall {
  /**
   * `attach`: the whole stream, as a repeated POST gets it. `follow`: the rest of it, with ids. `cancel`: stop it for
   * everyone.
   */
  readonly action: "attach" | "follow" | "cancel";
  readonly key: ConversationKey;
  /** Lower case. */
  readonly messageId: string;
  /** For `attach`: must be the message that runs. */
  readonly message: string | null;
  /** For `attach`: whether the reply goes on when everyone has left. */
  readonly resume: boolean;
  /** For `follow`: UTF-16 code units received so far. */
  readonly offset: number;
  /** Whether the client asked for named events, and which passages they report: those cited, or all that the model saw. */
  readonly sources: "cited" | "seen" | null;
  /** Whether the companion has tools: only then the calls of a stored reply are searched. */
  readonly hasTools: boolean;
}

export interface OtherInstances {
  /**
   * The response of the instance at `url`: a stream of events, which breaks if that instance does, or 204. Null if the
   * reply has ended there meanwhile: the store has it, if anything is left of it. Its headers carry nothing. What was
   * changed in transit breaks the stream before it is read; that it was cut short shows by its last event alone.
   *
   * Rejects with the error that the instance answers; with `unavailable` and a `Retry-After` of 1 if it does not answer,
   * or its address is unknown; with the signal's reason. The signal ends the request until the response is
   * there; after that, cancelling its body does, immediately. A body that is not read holds some pieces of what
   * arrives, and keeps the other instance from sending more.
   */
  pass(url: string | null, call: ReplyCall, signal: AbortSignal): Promise<Response | null>;
}

/** What one instance is to the others. */
export interface Instances extends OtherInstances {
  /** Where the others reach this one, as an origin; null until it listens, and for ever where there are no others. */
  readonly ownUrl: string | null;
  /**
   * Notifies the others. Resolves whether they could be notified or not; in the latter case it is tried again, until
   * `close`. `findUrl` is called only where there may be others.
   */
  announce(findUrl: () => string): Promise<void>;
  /**
   * Whether a request to this instance was sent by one of its own kind, by its proof alone: null if it was not, or was
   * seen before. The body that it came with counts only if its digest is `bodyHash`.
   */
  check(method: string, path: string, proof: string | null): Promise<CheckedCall | null>;
  close(): void;
}

export interface CheckedCall {
  /** SHA-256, in hexadecimal. */
  readonly bodyHash: string;
  /** Proves all of the response: see `proven-pieces.ts`. */
  readonly answerKey: string;
}

/** Where an instance takes calls of others. No proxy lets anyone else reach it, and it proves who calls. */
export const callPath = "/internal/replies";
/** In requests and in responses. */
export const proofHeader = "x-companiond-proof";
/** The status for "it has ended here": a reply that an instance does not know. */
export const endedStatus = 410;
