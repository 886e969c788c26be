/**
 * Tracks language models that currently fail, for operators: learnt from the replies themselves, cleared by the next
 * complete one.
 */
import { describeSilentModel, type FailureKind, findFailureKind, ReplyFailure } from "../domain/reply-failure.ts";
import { redact } from "../lib/log.ts";
import { kindOfOutcome, type LlmProvider } from "../llm/provider.ts";
import type { Measurements } from "./measurements.ts";

export interface SilentModel {
  model: string;
  /** Of the last failure, like `detail`. */
  kind: FailureKind;
  /** How many replies in a row have failed. */
  replies: number;
  sinceMs: number;
  lastMs: number;
  /** The same sentences as in `doctor`. */
  detail: string;
  advice: string;
}

export interface ProviderHealth {
  /** Models worth an operator's attention, the latest failure last. */
  listSilent(): SilentModel[];
}

interface HealthDependencies {
  baseUrl: string | null;
  nowMs(): number;
  measurements: Pick<Measurements, "failedReplies">;
}

/** These do not go away by themselves; the others are reported after a few in a row. */
const lasting: ReadonlySet<FailureKind> = new Set(["refused_key", "unknown_model", "refused_request"]);
const fewInARow = 3;
/** Nothing is known of a model that is no longer used. */
const forgetAfterMs = 24 * 60 * 60_000;
const maxModels = 50;

/** The same provider, with its failures recorded and counted. */
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
    listAnswerers: (model) => provider.listAnswerers(model),
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
  // Other errors may contain visitors' words.
  return cause instanceof ReplyFailure ? cause.message : "no reason given";
}
