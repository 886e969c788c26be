/** Reads the bytes of a streamed reply by the client rule of the interface; knows nothing of how they arrive. */
import { CompanionError } from "./errors.ts";

const prefix = "data: ";

/**
 * Split on lines, ignore those that do not start with `data: `, stop at the terminator, parse the rest as JSON.
 * The bytes may be cut anywhere, within a character too.
 */
export class ReplyReader {
  /** Whether the terminator came: only then is the reply whole. */
  isDone = false;
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** Returns the fragments that these bytes completed. Throws `bad_response` where a payload is no JSON. */
  push(bytes: Uint8Array): string[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }), false);
  }

  /** The connection closed: a last line may lack its line break. Without the terminator `isDone` stays false. */
  end(): string[] {
    return this.#read(this.#decoder.decode(), true);
  }

  #read(text: string, isLast: boolean): string[] {
    // A lone CR ends a line as well; between CR and LF this only makes an empty line, which is ignored.
    const lines = (this.#rest + text).split(/[\r\n]/);
    this.#rest = isLast ? "" : (lines.pop() ?? "");
    const fragments: string[] = [];
    for (const [index, line] of lines.entries()) {
      if (this.isDone || !line.startsWith(prefix)) continue;
      const payload = line.slice(prefix.length);
      if (payload === "[DONE]") {
        this.isDone = true;
        continue;
      }
      let event: unknown;
      try {
        event = JSON.parse(payload);
      } catch (cause) {
        // A line cut by the end of the connection is a sign of a cut reply, not of a server that speaks wrongly.
        if (isLast && index === lines.length - 1) break;
        throw new CompanionError("bad_response", "The reply contained an event that is not JSON.", { cause });
      }
      const fragment = Object(event).text;
      if (typeof fragment === "string" && fragment) fragments.push(fragment);
    }
    return fragments;
  }
}
