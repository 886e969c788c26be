/** The playground's visitor: the public client in a browser of its own, with a connection that can be cut. */
import { openLine } from "../../page/cut-line.ts";
import { CompanionError, createCompanion } from "../../sdk/index.ts";
import { ApiError } from "../lib/api.ts";

export interface Visit {
  /** Yields the reply; rejects with `ApiError` if it did not begin, or broke off. */
  chat(message: string, signal: AbortSignal): AsyncGenerator<string, void, undefined>;
  /** Ends every connection, and lets none begin for a moment. */
  cut(): void;
  newConversation(): void;
}

/** `visitorToken`: what makes the visitor a verified one. */
export function beginVisit(embedToken: string, visitorToken: string | null): Visit {
  const memory = new Map<string, string>();
  const line = openLine((url, init) => fetch(url, init));
  const companion = createCompanion({
    baseUrl: location.origin,
    token: embedToken,
    storage: {
      getItem: (key) => memory.get(key) ?? null,
      setItem: (key, value) => void memory.set(key, value),
      removeItem: (key) => void memory.delete(key),
    },
    fetch: line.fetch,
  });
  if (visitorToken !== null) companion.identify(visitorToken);
  return {
    async *chat(message, signal) {
      try {
        yield* companion.chat(message, { signal });
      } catch (error) {
        throw error instanceof CompanionError ? new ApiError(sentenceOf(error), error.status, error.code) : error;
      }
    },
    cut: line.cut,
    newConversation: () => void companion.newConversation(),
  };
}

/** The server's own sentence, where it spoke. */
function sentenceOf({ code, message }: CompanionError): string {
  if (code === "not_found") return "Visitors cannot reach it: it is paused, or its embed token was revoked.";
  if (message !== code) return message;
  return "The reply broke off: the server could not be reached again. Check the connection, then try again.";
}
