/** Removes from a provider's error message what the log must not contain: our secrets, prompts and visitors' words. */
import { type ReplyRequest, textsOf } from "../../contracts/llm/provider.ts";

const maxReason = 2000;
/** What is shorter than this is no credential, and within other words. */
const shortestSecret = 8;
/** By so much of its beginning a text is known of which only a part is repeated. */
const beginningUnits = 32;

export interface RequestSecrets {
  readonly apiKey: string | null;
  /** Values of headers, and the longer words in them: who refuses `Token abcdefgh` may repeat the last word alone. */
  readonly headerValues: readonly string[];
}

export function listSecrets(apiKey: string | null, headers: Readonly<Record<string, string>>): RequestSecrets {
  const values = Object.values(headers).map((value) => value.trim());
  const parts = values.flatMap((value) => value.split(/[\s,;="]+/)).filter((part) => part.length >= shortestSecret);
  return { apiKey, headerValues: [...values, ...parts] };
}

/**
 * Validators often repeat their input, as it is or as JSON. Names of tools are no secret: one that is called
 * `temperature` must not hide the message about the parameter.
 */
export function removePrivateWords(text: string, secrets: RequestSecrets, request: ReplyRequest): string {
  const named = [...(request.tools ?? []), ...(request.rounds ?? []).flatMap(({ calls }) => calls)];
  const names = new Set(named.map(({ name }) => name));
  const said = textsOf(request).filter((words) => !names.has(words));
  return removeWords(text, secrets, said);
}

/** The same for other requests. */
export function removeWords(text: string, { apiKey, headerValues }: RequestSecrets, said: readonly string[]): string {
  const rest = apiKey === null ? text : text.replaceAll(apiKey, "[key]");
  const reason = removeEach(removeEach(rest, headerValues, "[header]"), said, "[private]");
  return reason.slice(0, maxReason);
}

function removeEach(text: string, said: readonly string[], mark: string): string {
  let rest = text;
  const forms = said.flatMap((words) => [words.trim(), JSON.stringify(words.trim()).slice(1, -1)]);
  // The longest first: a message may be part of another one.
  for (const words of new Set(forms.toSorted((a, b) => b.length - a.length))) {
    if (words !== "" && rest.includes(words)) rest = rest.replace(matchWhole(words), mark);
    if (words.length > beginningUnits) rest = removeBeginnings(rest, words, mark);
  }
  return rest;
}

/** Providers cut what they repeat, and we read so much of their answer. */
function removeBeginnings(text: string, words: string, mark: string): string {
  const beginning = words.slice(0, beginningUnits);
  let rest = text;
  for (let at = rest.indexOf(beginning); at !== -1; at = rest.indexOf(beginning, at + mark.length)) {
    let same = beginningUnits;
    while (same < words.length && rest[at + same] === words[same]) same++;
    rest = rest.slice(0, at) + mark + rest.slice(at + same);
  }
  return rest;
}

/** Not inside a longer word: a one-letter message would mangle the whole reason. */
function matchWhole(words: string): RegExp {
  const literal = words.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu");
}
