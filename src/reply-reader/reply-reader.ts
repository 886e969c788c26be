/** Reads the bytes of a streamed reply by the client rule of the interface; knows nothing of how they arrive. */
import { CompanionError, type ReplyEndCode, type ServerErrorCode } from "./errors.ts";

type EndCode = ServerErrorCode | ReplyEndCode;

/** Where a reply has something from. */
export interface CitedSource {
  /** Its marker in the text: `[1]`. */
  n: number;
  title: string;
  url: string | null;
  /** Counted from 1; null in formats without pages. */
  page: number | null;
}

/** A tool works on the reply, or has ended; the same call may be reported again after a cut. */
export interface ToolCallState {
  call_id: string;
  name: string;
  state: "running" | "done" | "failed";
}

/** A call that waits for the visitor's decision; the reply ends here. The same one may come again after a cut. */
export interface Confirmation {
  call_id: string;
  tool: string;
  /** What the call does, for people. */
  title: string;
  /** Written by the model. */
  arguments: Record<string, unknown>;
}

/** Who answers a conversation: the companion, a person of the team, or no one yet, since a person was asked for. */
export interface ConversationState {
  state: "companion" | "waiting" | "person";
  person: { name: string | null } | null;
  /** RFC 3339, as all times. */
  since: string | null;
  /** When it is the companion's again, unless something happens before. */
  until: string | null;
  /** `asked`, `taken`, `released`, `missed`, `idle`, `visitor` or `closed`. */
  reason: string | null;
}

export type CallEvent = ToolCallState | Confirmation;

export interface ReplyReader {
  /** Whether the terminator came: only then is the reply whole. */
  readonly isDone: boolean;
  /** Why the server ended the reply before its terminator, where it sent the reason. */
  readonly failure: EndCode | null;
  /** What it cites, where the server was asked for that, and the companion has knowledge. */
  readonly sources: CitedSource[] | null;
  /** Who answers from now on, where the server said so: not the companion, or a reply without a word. */
  readonly state: ConversationState | null;
  /** Whether a person was offered, since nothing was found. */
  readonly isOffered: boolean;
  /**
   * Returns the fragments that these bytes completed, with the events of calls between them. Without bytes the connection
   * is closed: a last line may lack its line break. Throws `bad_response` where a payload is not JSON.
   */
  push(bytes?: Uint8Array): (string | CallEvent)[];
}

/**
 * Split on lines, ignore those that do not start with `data: `, stop at the terminator, parse the rest as JSON.
 * The bytes may be cut anywhere, within a character too. What a named event means is known by its members: its name is a
 * separate line, which is ignored, except that of an offer, which has none.
 */
export function createReplyReader(): ReplyReader {
  const decoder = new TextDecoder();
  let rest = "";
  const reader = {
    isDone: false,
    failure: null as EndCode | null,
    sources: null as CitedSource[] | null,
    state: null as ConversationState | null,
    isOffered: false,
    push(bytes?: Uint8Array) {
      // A lone CR ends a line as well; between CR and LF this only makes an empty line, which is ignored.
      const lines = (rest + decoder.decode(bytes, { stream: !!bytes })).split(/[\r\n]/);
      rest = lines.pop() ?? "";
      const parts: (string | CallEvent)[] = [];
      const read = (line: string): void => {
        // Other clients take this for a comment.
        if (line.startsWith(": error ")) reader.failure = line.slice(8) as EndCode;
        if (line === "event: offer") reader.isOffered = true;
        if (reader.isDone || !line.startsWith("data: ")) return;
        const payload = line.slice(6);
        if (payload === "[DONE]") reader.isDone = true;
        else {
          const event = Object(JSON.parse(payload));
          const { text, sources, call_id, state } = event;
          if (Array.isArray(sources)) reader.sources = sources;
          if (typeof text === "string" && text) parts.push(text);
          if (call_id) parts.push(event);
          else if (state) reader.state = event;
        }
      };
      try {
        lines.forEach(read);
      } catch (cause) {
        throw new CompanionError("bad_response", { cause });
      }
      try {
        // A comment may have been cut, too, and would then be another one.
        if (!bytes && !rest.startsWith(":")) read(rest);
      } catch {
        // A line cut by the end of the connection means a reply that was cut off, not a malformed one.
      }
      return parts;
    },
  };
  return reader;
}
