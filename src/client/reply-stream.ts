/** What arrives of a reply on one connection: its texts, and what it cites. */
import { CompaniondError, type CompaniondErrorCode } from "./errors.ts";
import { readLines } from "./lines.ts";
import type { OpenedResponse } from "./request.ts";

/** How long a server may leave a stream open behind its terminator. */
const endMs = 1000;

/** Where a reply has something from. */
export interface CitedSource {
  /** What its marker in the text says: `[1]`. */
  n: number;
  title: string;
  url: string | null;
  /** Counted from 1; null in formats without pages. */
  page: number | null;
}

export type OnSources = (sources: readonly CitedSource[]) => void;

/** A reply that cannot be gone on with, from the opening of its stream. */
export async function* readOnce(opening: Promise<OpenedResponse>): AsyncGenerator<string, void, undefined> {
  yield* readReply(await opening);
}

/** The texts of a stream, and what it cites. Throws `incomplete` where it ends without its terminator. */
export async function* readReply(
  opened: OpenedResponse,
  onSources?: OnSources,
): AsyncGenerator<string, void, undefined> {
  let isDone = false;
  let reason: CompaniondErrorCode | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for await (const line of readLines(opened)) {
      // Other clients take this for a comment.
      if (line.startsWith(": error ")) reason = line.slice(8) as CompaniondErrorCode;
      if (isDone || !line.startsWith("data: ")) continue;
      const payload = line.slice(6);
      if (payload === "[DONE]") {
        isDone = true;
        // Read to its end, the connection serves the next call.
        timer = setTimeout(opened.close, endMs);
        continue;
      }
      const { text, sources } = parsePayload(payload);
      if (Array.isArray(sources)) onSources?.(sources);
      if (typeof text === "string" && text !== "") yield text;
    }
  } catch (error) {
    if (!isDone) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (isDone) return;
  throw new CompaniondError("incomplete", {
    message: "The reply ended before it was whole.",
    ...(reason === null ? {} : { cause: new CompaniondError(reason) }),
  });
}

function parsePayload(payload: string): { text?: unknown; sources?: unknown } {
  try {
    return Object(JSON.parse(payload));
  } catch (cause) {
    throw new CompaniondError("bad_response", { message: "The stream holds something that is not JSON.", cause });
  }
}
