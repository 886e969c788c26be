/** Replies of language models, recorded and replayed: those of the companion, and those of its judges. */
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "../../../contracts/llm/provider.ts";
import { textOf } from "../../../domain/conversation.ts";
import { AppError } from "../../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../domain/json.ts";
import { plainProviderName } from "../../../domain/model-routes.ts";
import { type FailureKind, findFailureKind, ReplyFailure } from "../../../domain/reply-failure.ts";
import type { ToolRound } from "../../../domain/tool.ts";
import type { Answerer, CountedTokens } from "../../../domain/usage.ts";
import type { StopSignal } from "../../../lib/stop-signal.ts";
import type { RecordedClock } from "./recorded-clock.ts";
import type { RecordedRequest, Recordings } from "./recordings.ts";

/** How a reply ended; `failure` of one that the request itself has brought about. */
interface RecordedReply extends JsonObject {
  text: string;
  calls: { name: string; arguments: string }[];
  finish_reason: string | null;
  answered_by: { provider: string; model: string };
  usage: (CountedTokens & JsonObject) | null;
  /** Whole milliseconds from the request; null without text. */
  first_text_ms: number | null;
  total_ms: number;
  failure: FailureKind | null;
}

/** A provider that is away, or has enough of us, says nothing of the companion. */
const recordedFailures: readonly FailureKind[] = ["refused_request", "filtered", "no_room", "empty"];

export interface RecordedLlmOptions {
  readonly recordings: Recordings;
  readonly clock: RecordedClock;
  /** What the operator has merged into every request (`COMPANIOND_LLM_EXTRA`); null for nothing. */
  readonly extra: JsonObject | null;
}

/** `provider` is asked while recording; null to replay. */
export function createRecordedLlm(
  provider: LlmProvider | null,
  { recordings, clock, extra }: RecordedLlmOptions,
): LlmProvider {
  async function record(
    asked: LlmProvider,
    [request, sink, signal]: readonly [ReplyRequest, ReplySink, StopSignal],
  ): Promise<ReplyOutcome> {
    const startMs = clock.monotonicMs();
    const passedMs = () => Math.round(clock.monotonicMs() - startMs);
    let [text, firstTextMs] = ["", null as number | null];
    let ended: { outcome: ReplyOutcome } | { error: unknown } | null = null;
    const heard: ReplySink = {
      emit(event) {
        firstTextMs ??= passedMs();
        text += event.deltas.join("");
        return sink.emit(event);
      },
    };
    await recordings.answer<RecordedReply>(toRecordedRequest(request, extra), async () => {
      const facts = () => ({ text, first_text_ms: firstTextMs, total_ms: passedMs() });
      try {
        const outcome = await asked.streamReply(request, heard, signal);
        ended = { outcome };
        return outcome.complete ? { ...toRecordedEnd(outcome), ...facts() } : null;
      } catch (error) {
        ended = { error };
        const failure = findFailureKind(error);
        if (failure === null || !recordedFailures.includes(failure)) return null;
        const answeredBy = { provider: asked.name, model: request.model };
        const end = { calls: [], finish_reason: null, answered_by: answeredBy, usage: null, failure };
        return { ...end, ...facts() };
      }
    });
    return settle(ended);
  }

  async function replay(request: ReplyRequest, sink: ReplySink): Promise<ReplyOutcome> {
    const recorded = await recordings
      .answer<RecordedReply>(toRecordedRequest(request, extra), async () => null)
      .catch((cause: unknown) => {
        throw new AppError("upstream_error", "No recording answers this request.", { cause });
      });
    if (recorded === null) throw new AppError("internal", "A replay asks no provider.");
    const { text, first_text_ms: firstTextMs, total_ms: totalMs } = recorded;
    clock.pass(firstTextMs ?? 0);
    if (text !== "") await sink.emit({ type: "text", deltas: [text] });
    clock.pass(totalMs - (firstTextMs ?? 0));
    return toOutcome(recorded);
  }

  const answererOf = (model: string): Answerer => ({ provider: plainProviderName, model });
  return {
    name: provider?.name ?? plainProviderName,
    streamReply: (...call) => (provider === null ? replay(call[0], call[1]) : record(provider, call)),
    listAnswerers: (model) => provider?.listAnswerers(model) ?? [answererOf(model)],
    listBounds: (request) =>
      provider?.listBounds(request) ?? [
        { answerer: answererOf(request.model), maxOutputTokens: request.maxOutputTokens },
      ],
    close: () => provider?.close(),
  };
}

function settle(ended: { outcome: ReplyOutcome } | { error: unknown } | null): ReplyOutcome {
  if (ended === null) throw new AppError("internal", "The reply has no end.");
  if ("error" in ended) throw ended.error;
  return ended.outcome;
}

function toRecordedRequest(request: ReplyRequest, extra: JsonObject | null): RecordedRequest {
  const { model, systemPrompt, messages, temperature, reasoningEffort, maxOutputTokens } = request;
  const { stop, form, tools = [], rounds = [] } = request;
  const optional: [string, JsonValue | undefined][] = [
    ["stop", stop && [...stop]],
    ["form", form && { name: form.name, schema: form.schema }],
    ["tools", tools.map(({ name, description, parameters }) => ({ name, description, parameters }))],
    ["rounds", rounds.map(toRecordedRound)],
    ["extra", extra ?? undefined],
  ];
  const isGiven = ([, value]: [string, JsonValue | undefined]) =>
    value !== undefined && !(Array.isArray(value) && value.length === 0);
  return {
    kind: "reply",
    model,
    system_prompt: systemPrompt,
    messages: messages.map((message) => {
      const { role, author } = message;
      return { role, ...(author === undefined ? {} : { author }), text: textOf(message) };
    }),
    temperature,
    reasoning_effort: reasoningEffort,
    max_output_tokens: maxOutputTokens,
    ...(Object.fromEntries(optional.filter(isGiven)) as JsonObject),
  };
}

/** Without the names that providers give their calls. */
const toRecordedRound = ({ text, calls }: ToolRound) => ({
  text,
  calls: calls.map(({ name, arguments: given, result }) => ({ name, arguments: given, result })),
});

function toRecordedEnd({ calls = [], finishReason, answeredBy, usage }: ReplyOutcome) {
  const { provider, model } = answeredBy;
  return {
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    finish_reason: finishReason,
    answered_by: { provider, model },
    usage: usage && { ...usage },
    failure: null,
  };
}

/** Throws what was recorded as a failure. */
function toOutcome(recorded: RecordedReply): ReplyOutcome {
  const { calls, finish_reason: finishReason, answered_by: answeredBy, usage, failure } = recorded;
  if (failure !== null) {
    const cause = new ReplyFailure("recorded", failure);
    throw new AppError("upstream_error", "The provider has failed when this was recorded.", { cause });
  }
  return {
    ...{ complete: true, failure: null, finishReason, answeredBy, usage },
    calls: calls.map((call, at) => ({ ...call, id: `call_${at + 1}` })),
  };
}
