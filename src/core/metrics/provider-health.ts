/**
 * Tracks language models that currently fail, for operators: learnt from the replies themselves, cleared by the next
 * complete one.
 */
import { type CallObserver, kindOfOutcome, type LlmProvider } from "../../contracts/llm/provider.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";
import {
  describeSilentModel,
  type FailureKind,
  findFailureKind,
  nameModel,
  type ProviderLocation,
  ReplyFailure,
} from "../../domain/reply-failure.ts";
import type { Answerer } from "../../domain/usage.ts";
import { redact } from "../../lib/log.ts";
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
  /** Where a provider is, by the name under which its replies count. */
  findLocation(provider: string): ProviderLocation;
  nowMs(): number;
  measurements: Pick<Measurements, "countCall">;
}

/** These do not go away on their own; the others are reported after a few in a row. */
const lasting: ReadonlySet<FailureKind> = new Set(["refused_key", "unknown_model", "refused_request"]);
const fewInARow = 3;
/** Nothing is known of a model that is no longer used. */
const forgetAfterMs = 24 * 60 * 60_000;
const maxModels = 50;

export function createProviderHealth({ findLocation, nowMs, measurements }: HealthDependencies): {
  calls: CallObserver;
  providerHealth: ProviderHealth;
} {
  const silent = new Map<string, SilentModel>();

  function noteFailure(answerer: Answerer, kind: FailureKind, failure: unknown): void {
    const name = nameAnswerer(answerer);
    const lastMs = nowMs();
    const { replies, sinceMs } = silent.get(name) ?? { replies: 0, sinceMs: lastMs };
    silent.delete(name);
    const [longestAgo] = silent.keys();
    if (silent.size >= maxModels && longestAgo !== undefined) silent.delete(longestAgo);
    const location = findLocation(answerer.provider);
    const sentences = describeSilentModel(answerer.model, location, kind, redact(reasonOf(failure)));
    const model = nameModel(answerer.model, location.named);
    silent.set(name, { model, kind, replies: replies + 1, sinceMs, lastMs, ...sentences });
  }

  return {
    calls: {
      ended(answerer, outcome) {
        const kind = kindOfOutcome(outcome);
        if (kind !== null && kind !== "filtered") noteFailure(answerer, kind, outcome.failure);
        else if (outcome.complete) silent.delete(nameAnswerer(answerer));
        const incomplete = kind === null ? "left" : "broken";
        measurements.countCall(answerer.provider, outcome.complete ? "complete" : incomplete);
      },
      failed(answerer, failure) {
        const kind = findFailureKind(failure);
        if (kind === null) return;
        // Visitors can bring it about at will.
        if (kind !== "filtered") noteFailure(answerer, kind, failure);
        measurements.countCall(answerer.provider, "failed");
      },
    },
    providerHealth: {
      listSilent: () =>
        [...silent.values()].filter(
          ({ kind, replies, lastMs }) =>
            (lasting.has(kind) || replies >= fewInARow) && nowMs() - lastMs < forgetAfterMs,
        ),
    },
  };
}

/**
 * The same provider, with its failed replies counted: each once, under the last failure. `calls` is notified of them too,
 * unless the provider is a chain, which reports each call itself.
 */
export function watchProvider(
  provider: LlmProvider,
  { measurements, calls }: { measurements: Pick<Measurements, "failedReplies">; calls: CallObserver | null },
): LlmProvider {
  return {
    name: provider.name,
    streamReply: (request, sink, signal) =>
      provider.streamReply(request, sink, signal).then(
        (outcome) => {
          const kind = kindOfOutcome(outcome);
          if (kind !== null) measurements.failedReplies[kind]++;
          calls?.ended(outcome.answeredBy, outcome);
          return outcome;
        },
        (failure: unknown) => {
          const kind = findFailureKind(failure);
          if (kind !== null) measurements.failedReplies[kind]++;
          calls?.failed({ provider: provider.name, model: request.model }, failure);
          throw failure;
        },
      ),
    listAnswerers: (model) => provider.listAnswerers(model),
    listBounds: (request) => provider.listBounds(request),
    close: () => provider.close(),
  };
}

function reasonOf(failure: unknown): string {
  const cause = failure instanceof Error && failure.cause !== undefined ? failure.cause : failure;
  // Other errors may contain visitors' words.
  return cause instanceof ReplyFailure ? cause.message : "no reason given";
}
