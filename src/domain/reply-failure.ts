/**
 * Why replies fail: a small set of kinds that owners, operators and dashboards may see, unlike the provider's own
 * words.
 */
import { AppError } from "./errors.ts";
import type { ChargedCall } from "./usage.ts";

/** What each kind means, in the order in which lists show them. */
export const failureMeanings = {
  refused_key: "the provider refuses the server's key (401, 403)",
  unknown_model: "the provider does not know the model, or the address (404)",
  refused_request: "the provider refuses the request, such as a parameter or a prompt that is too long (other 4xx)",
  rate_limited: "the provider's own limit or credit is used up (402, 429)",
  provider_error: "the provider failed on its side (5xx, or an error object)",
  unreachable: "no connection to the provider, or it broke before the response",
  timed_out: "no text for 60 seconds, 5 minutes of thinking, or no end after 10 minutes",
  broken_off: "the reply began, and its connection broke off or ended without an end mark",
  empty: "the reply ended without a word",
  no_room: "the model thought through its whole bound, and had no tokens left for an answer",
  filtered: "the provider's content filter left nothing of the reply, or refused the message",
  malformed: "the response is no reply: HTML, no JSON, or too long",
} as const;

/** What each kind means to the person responsible for the companion, and what to change. */
const failureSentences: Record<keyof typeof failureMeanings, string> = {
  refused_key: "The provider refused the server's key. The server's operator has to replace it.",
  unknown_model: "The provider does not know the model. Choose another model.",
  refused_request:
    "The provider refused the request. Check temperature, max_output_tokens and the length of system_prompt, or choose another model.",
  rate_limited:
    "The provider's limit or credit is used up. Try again in a moment; if it lasts, tell the server's operator.",
  provider_error: "The provider failed on its side. Try again in a moment.",
  unreachable: "The provider could not be reached. Try again in a moment; if it lasts, tell the server's operator.",
  timed_out: "The provider took too long. Lower reasoning_effort, shorten system_prompt, or choose a faster model.",
  broken_off: "The provider broke the reply off. Try again in a moment.",
  empty: "The model ended its reply without a word. Try again, or choose another model.",
  no_room:
    "The model thought until its limit and had no tokens left for an answer. Raise max_output_tokens, lower reasoning_effort, or choose another model.",
  filtered:
    "The provider's content filter left nothing of the reply, or refused the message. Change the message or system_prompt, or choose another model.",
  malformed: "The provider sent something that is no reply. The server's operator has to check its address.",
};

export type FailureKind = keyof typeof failureMeanings;

export const failureKinds = Object.keys(failureMeanings) as FailureKind[];

/** A provider's failure with its kind; the message is private, for the log. */
export class ReplyFailure extends Error {
  readonly kind: FailureKind;
  /** The call, where the provider had accepted it, and so may charge for it; or null. */
  readonly charged: ChargedCall | null;

  constructor(message: string, kind: FailureKind, charged: ChargedCall | null = null) {
    super(message);
    this.kind = kind;
    this.charged = charged;
  }
}

/** The kind of a failed provider call; null if the failure is not the provider's. */
export function findFailureKind(failure: unknown): FailureKind | null {
  if (failure instanceof ReplyFailure) return failure.kind;
  if (!(failure instanceof AppError) || failure.code !== "upstream_error") return null;
  return failure.cause instanceof ReplyFailure ? failure.cause.kind : "provider_error";
}

/** A failure as the person responsible for the companion may read it: with its kind, and what to change. */
export function explainFailure(kind: FailureKind): { kind: FailureKind; detail: string } {
  return { kind, detail: failureSentences[kind] };
}

/** The same as an error; one that is not a provider's stays as it is. */
export function toExplainedError(error: unknown): unknown {
  const kind = findFailureKind(error);
  if (kind === null) return error;
  const { detail } = explainFailure(kind);
  return new AppError("upstream_error", detail, {
    cause: error instanceof AppError ? error.cause : error,
    members: { kind },
  });
}

/** The call that failed, if the provider may charge for it; null if not. */
export function findCharged(failure: unknown): ChargedCall | null {
  const cause = failure instanceof AppError ? failure.cause : failure;
  return cause instanceof ReplyFailure ? cause.charged : null;
}

/** Where a provider is, and where the operator has set it. */
export interface ProviderLocation {
  /** Null means OpenAI itself. */
  baseUrl: string | null;
  /** Null for the provider of the plain settings. */
  named: { name: string; keyFile: string | null; file: string } | null;
}

/** How `doctor` and, for operators, the dashboard describe a model that does not reply. `reason` is the provider's. */
export function describeSilentModel(model: string, location: ProviderLocation, kind: FailureKind, reason: string) {
  const { baseUrl, named } = location;
  const detail = `${nameModel(model, named)} does not reply at ${nameProvider(baseUrl)}: ${reason}`;
  return { detail, advice: adviseOn(kind, nameSettings(named)) };
}

/** As they are called where the operator has set them. */
function nameSettings(named: ProviderLocation["named"]) {
  if (named === null) {
    return {
      key: "OPENAI_API_KEY",
      url: "OPENAI_BASE_URL (up to and including /v1)",
      model: "COMPANIOND_MODEL",
      effort: "COMPANIOND_REASONING_EFFORT",
      api: "COMPANIOND_LLM_API",
      extra: "COMPANIOND_LLM_EXTRA",
    };
  }
  const { name, keyFile, file } = named;
  return {
    key: keyFile === null ? `that ${name} in ${file} needs no api_key_file` : `the key in ${keyFile}`,
    url: `base_url (up to and including /v1) of ${name} in ${file}`,
    model: `the model of ${name} in ${file}`,
    effort: `reasoning_effort of ${name} in ${file}`,
    api: `api of ${name} in ${file}`,
    extra: `extra of ${name} in ${file}`,
  };
}

function adviseOn(kind: FailureKind, { key, url, model, effort, api, extra }: ReturnType<typeof nameSettings>): string {
  switch (kind) {
    case "refused_key":
      return `Check ${key}.`;
    case "unknown_model":
      return `Check ${model}, and ${url}.`;
    case "refused_request":
      return `Check ${extra}, ${api} and ${model}.`;
    case "rate_limited":
      return "Check your limits and your credit with the provider.";
    case "unreachable":
      return `Check ${url}, and the network.`;
    case "timed_out":
      return `Check ${url}; if it answers others, lower ${effort}, or choose a faster model.`;
    case "no_room":
      return `Raise COMPANIOND_REASONING_TOKENS or max_output_tokens, lower ${effort}, or choose another model.`;
    case "filtered":
      return "Check the content filter at the provider, or choose another model.";
    case "empty":
      return `Check ${model}: another one may answer.`;
    case "malformed":
      return `Check ${url} and ${api}.`;
    case "provider_error":
    case "broken_off":
      return `Wait, or check the provider's status page; if it lasts, check ${url} and ${model}.`;
  }
}

/** As the operator names it. */
export function nameModel(model: string, named: ProviderLocation["named"]): string {
  return named === null ? model : `${named.name}/${model}`;
}

/** The provider's host, without anything else from the URL. */
export function nameProvider(baseUrl: string | null): string {
  return baseUrl === null ? "OpenAI" : new URL(baseUrl).host;
}
