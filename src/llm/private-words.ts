/** Removes from a provider's error message what the log must not contain: our key, prompts and visitors' words. */
import { textOf } from "../domain/conversation.ts";
import type { ReplyRequest } from "./provider.ts";

const longestReason = 2000;

/** Validators often repeat their input, as it is or as JSON. */
export function removePrivateWords(text: string, apiKey: string | null, request: ReplyRequest): string {
  return removeWords(text, apiKey, [request.systemPrompt ?? "", ...request.messages.map(textOf)]);
}

/** The same for other requests. */
export function removeWords(text: string, apiKey: string | null, said: readonly string[]): string {
  let rest = apiKey === null ? text : text.replaceAll(apiKey, "[key]");
  const forms = said.flatMap((words) => [words.trim(), JSON.stringify(words.trim()).slice(1, -1)]);
  // The longest first: a message may be part of another one.
  for (const words of new Set(forms.toSorted((a, b) => b.length - a.length))) {
    if (words !== "" && rest.includes(words)) rest = rest.replace(matchWhole(words), "[private]");
  }
  return rest.slice(0, longestReason);
}

/** Not inside a longer word: a one-letter message would mangle the whole reason. */
function matchWhole(words: string): RegExp {
  const literal = words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu");
}
