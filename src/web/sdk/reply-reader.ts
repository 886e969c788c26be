/** Reads the bytes of a streamed reply by the client rule of the interface; knows nothing of how they arrive. */
import { CompanionError, type ReplyEndCode, type ServerErrorCode } from "./errors.ts";

type EndCode = ServerErrorCode | ReplyEndCode;

export interface ReplyReader {
  /** Whether the terminator came: only then is the reply whole. */
  readonly isDone: boolean;
  /** Why the server ended the reply before its terminator, where it said so. */
  readonly failure: EndCode | null;
  /**
   * Returns the fragments that these bytes completed. Without bytes the connection is closed: a last line may lack its
   * line break. Throws `bad_response` where a payload is not JSON.
   */
  push(bytes?: Uint8Array): string[];
}

/**
 * Split on lines, ignore those that do not start with `data: `, stop at the terminator, parse the rest as JSON.
 * The bytes may be cut anywhere, within a character too.
 */
export function createReplyReader(): ReplyReader {
  const decoder = new TextDecoder();
  let rest = "";
  let isDone = false;
  let failure: EndCode | null = null;
  return {
    get isDone() {
      return isDone;
    },
    get failure() {
      return failure;
    },
    push(bytes) {
      // A lone CR ends a line as well; between CR and LF this only makes an empty line, which is ignored.
      const lines = (rest + decoder.decode(bytes, { stream: !!bytes })).split(/[\r\n]/);
      rest = lines.pop() ?? "";
      const fragments: string[] = [];
      const read = (line: string): void => {
        // Other clients take this for a comment.
        if (line.startsWith(": error ")) failure = line.slice(8) as EndCode;
        if (isDone || !line.startsWith("data: ")) return;
        const payload = line.slice(6);
        isDone = payload === "[DONE]";
        if (isDone) return;
        const { text } = Object(JSON.parse(payload));
        if (typeof text === "string" && text) fragments.push(text);
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
      return fragments;
    },
  };
}
