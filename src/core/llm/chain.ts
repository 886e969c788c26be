/** Asks several providers for one reply: the next one where the one before failed without text. */
import { type AttemptingProvider, maxRetries, type ReplyAttempt, replyDeadlines } from "../../contracts/llm/attempt.ts";
import type {
  CallGate,
  CallObserver,
  LlmProvider,
  ReplyEvent,
  ReplyOutcome,
  ReplyRequest,
  ReplySink,
} from "../../contracts/llm/provider.ts";
import { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import { AppError } from "../../domain/errors.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";
import type { Answerer } from "../../domain/usage.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";
import { type Circuit, circuitLimits } from "./circuit.ts";

/** One provider's model, shared by all chains that name it. */
export interface ChainEntry {
  readonly answerer: Answerer;
  readonly engine: AttemptingProvider;
  readonly circuit: Circuit;
}

export interface ChainOptions {
  /** As in `LlmProvider`. */
  name: string;
  /** Who is asked for a model, in this order; the same objects with every call. Not empty for a model that is offered. */
  findEntries(model: string): readonly ChainEntry[];
  /** Ends the engines. */
  close(): void;
  /** Notified of each call, also of those after which another provider was asked. */
  calls: CallObserver;
  clock: Pick<Clock, "monotonicMs">;
  log: Log;
}

/** What an entry gets at least of the time that all of them have together. */
const leastMs = 5_000;

export function createChains(options: ChainOptions): LlmProvider {
  const { name, findEntries, calls, clock, log } = options;

  /** The provider that answered the turn's first round answers those that follow. */
  function findAnswering({ model, answerer }: ReplyRequest): readonly ChainEntry[] {
    const entries = findEntries(model);
    if (answerer === undefined) return entries;
    return entries.filter(
      ({ answerer: { provider, model } }) => provider === answerer.provider && model === answerer.model,
    );
  }

  /** Those that are not passed over; all of them if that leaves none. */
  function choose(request: ReplyRequest, nowMs: number): { plan: readonly ChainEntry[]; isLastResort: boolean } {
    const entries = findAnswering(request);
    const { accountId } = request;
    const ready = entries.filter(({ circuit }) => !circuit.isPassedOver(nowMs, accountId));
    return ready.length > 0 ? { plan: ready, isLastResort: false } : { plan: entries, isLastResort: true };
  }

  async function ask(
    { answerer, engine, circuit }: ChainEntry,
    request: ReplyRequest,
    sink: ReplySink,
    signal: StopSignal,
    attempt: ReplyAttempt,
  ): Promise<ReplyOutcome> {
    const call = circuit.begin(clock.monotonicMs(), request.accountId);
    let hasBegun = false;
    const noting = {
      emit(event: ReplyEvent) {
        if (!hasBegun) call.noteAnswer(clock.monotonicMs());
        hasBegun = true;
        return sink.emit(event);
      },
    };
    try {
      const outcome = await engine.streamReply({ ...request, model: answerer.model }, noting, signal, attempt);
      if (outcome.complete && !hasBegun) call.noteAnswer(clock.monotonicMs());
      calls.ended(answerer, outcome);
      return outcome;
    } catch (error) {
      calls.failed(answerer, error);
      if (isAboutHealth(error) && call.noteFailure(clock.monotonicMs()) === "opened") {
        log.warn("provider keeps failing and is passed over for a while", { ...answerer, forMs: circuitLimits.openMs });
      }
      throw error;
    } finally {
      call.end();
    }
  }

  async function streamReply(request: ReplyRequest, sink: ReplySink, signal: StopSignal): Promise<ReplyOutcome> {
    const startedMs = clock.monotonicMs();
    const { plan, isLastResort } = choose(request, startedMs);
    for (const [index, entry] of plan.entries()) {
      const nowMs = clock.monotonicMs();
      const left = plan.length - index;
      // Others may have found out meanwhile that it fails, or be finding out.
      if (left > 1 && !isLastResort && entry.circuit.isPassedOver(nowMs, request.accountId)) continue;
      const spentMs = Math.round(nowMs - startedMs);
      const attempt = {
        firstTextMs: Math.max(leastMs, Math.round((replyDeadlines.firstTextMs - spentMs) / left)),
        spentMs,
        maxRetries: left > 1 ? 0 : maxRetries,
      };
      try {
        return await ask(entry, request, sink, signal, attempt);
      } catch (error) {
        const failure = findFailure(error);
        const next = failure !== null && isAboutProvider(failure) ? plan[index + 1] : undefined;
        log.warn("provider failed", {
          requestId: request.requestId,
          ...entry.answerer,
          next: next === undefined ? null : nameAnswerer(next.answerer),
          error: error instanceof AppError ? error.cause : error,
        });
        if (next === undefined || !(error instanceof AppError)) throw error;
        if (request.gate !== undefined) await passGate(request.gate, request, next, error);
      }
    }
    throw new AppError("upstream_error", "No language model is configured for this companion.");
  }

  return {
    name,
    streamReply,
    listAnswerers: (model) => findEntries(model).map(({ answerer }) => answerer),
    listBounds: (request) =>
      findAnswering(request).flatMap(({ answerer: { model }, engine }) => engine.listBounds({ ...request, model })),
    close: options.close,
  };
}

/** Rejects if there is no further call: with the failure at hand if it would cost too much. */
async function passGate(gate: CallGate, request: ReplyRequest, next: ChainEntry, error: AppError): Promise<void> {
  const { answerer, engine } = next;
  const { maxOutputTokens } = engine.foresee({ ...request, model: answerer.model });
  const failure = findFailure(error);
  if (await gate.permit({ answerer, maxOutputTokens, before: failure?.charged ?? null })) return;
  // What it cost is reported to the gate alone.
  throw new AppError("upstream_error", error.message, { cause: failure?.with({ charged: null }) ?? error.cause });
}

/** Whether the provider is at fault: else the sender of such requests could keep all others away from it. */
function isAboutHealth(error: unknown): boolean {
  const failure = findFailure(error);
  return failure !== null && isAboutProvider(failure) && !failure.isByRequest;
}

function findFailure(error: unknown): ProviderFailure | null {
  return error instanceof AppError && error.cause instanceof ProviderFailure ? error.cause : null;
}

/** Another provider may do better. Not where the request itself is refused: the others would refuse it too. */
function isAboutProvider({ status, kind, hasAsked }: ProviderFailure): boolean {
  if (hasAsked) return false;
  // What one filter keeps back, the next one should not be asked to let through.
  if (kind === "filtered") return false;
  return status === null || status < 400 || status >= 500 || movedOnFrom.has(status);
}

/** The key, the model's name and the rate are matters between us and one provider. */
const movedOnFrom: ReadonlySet<number> = new Set([401, 404, 429]);
