/** Which language models do not answer now, for operators: known from the replies themselves, gone with the next whole one. */
import { describeSilentModel, type FailureKind, findFailureKind, ReplyFailure } from "../domain/reply-failure.ts";
import { redact } from "../lib/log.ts";
import { kindOfOutcome, type LlmProvider } from "../llm/provider.ts";
import type { Measurements } from "./measurements.ts";

export interface SilentModel {
  model: string;
  /** Of the last failure, as is `detail`. */
  kind: FailureKind;
  /** How many replies failed one after the other. */
  replies: number;
  sinceMs: number;
  lastMs: number;
  /** The sentences that `doctor` has for it. */
  detail: string;
  advice: string;
}

export interface ProviderHealth {
  /** Those worth an operator's attention; the last to fail is the last. */
  listSilent(): SilentModel[];
}

interface HealthDependencies {
  baseUrl: string | null;
  nowMs(): number;
  measurements: Pick<Measurements, "failedReplies">;
}

/** These do not pass by themselves; of the others a few in a row are told. */
const lasting: ReadonlySet<FailureKind> = new Set(["refused_key", "unknown_model", "refused_request"]);
const fewInARow = 3;
/** Of a model that nobody asks any more nothing is known. */
const forgetAfterMs = 24 * 60 * 60_000;
const maxModels = 50;

/** The same provider, with its failures noted and counted. */
export function watchProvider(
  provider: LlmProvider,
  { baseUrl, nowMs, measurements }: HealthDependencies,
): { llm: LlmProvider; providerHealth: ProviderHealth } {
  const silent = new Map<string, SilentModel>();

  function noteFailure(model: string, kind: FailureKind, failure: unknown): void {
    measurements.failedReplies[kind]++;
    const lastMs = nowMs();
    const { replies, sinceMs } = silent.get(model) ?? { replies: 0, sinceMs: lastMs };
    silent.delete(model);
    const [longestAgo] = silent.keys();
    if (silent.size >= maxModels && longestAgo !== undefined) silent.delete(longestAgo);
    const sentences = describeSilentModel(model, baseUrl, redact(reasonOf(failure)));
    silent.set(model, { model, kind, replies: replies + 1, sinceMs, lastMs, ...sentences });
  }

  const llm: LlmProvider = {
    name: provider.name,
    streamReply: (request, sink, signal) =>
      provider.streamReply(request, sink, signal).then(
        (outcome) => {
          const kind = kindOfOutcome(outcome);
          if (kind !== null) noteFailure(request.model, kind, outcome.failure);
          else if (outcome.complete) silent.delete(request.model);
          return outcome;
        },
        (failure: unknown) => {
          const kind = findFailureKind(failure);
          if (kind !== null) noteFailure(request.model, kind, failure);
          throw failure;
        },
      ),
    close: () => provider.close(),
  };

  return {
    llm,
    providerHealth: {
      listSilent: () =>
        [...silent.values()].filter(
          ({ kind, replies, lastMs }) =>
            (lasting.has(kind) || replies >= fewInARow) && nowMs() - lastMs < forgetAfterMs,
        ),
    },
  };
}

function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error && failure.cause !== undefined ? failure.cause : failure;
  // Whatever else it may be has not been cleaned of what visitors said.
  return cause instanceof ReplyFailure ? cause.message : "no reason given";
}
