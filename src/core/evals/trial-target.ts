/** Asks companions of a store that is open in this process: replies are trials, and so is what a judge answers. */
import type { Plan } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { textOf, textParts } from "../../domain/conversation.ts";
import { AppError, missing } from "../../domain/errors.ts";
import type { NumberedPassage } from "../../domain/knowledge.ts";
import { explainFailure, findFailureKind } from "../../domain/reply-failure.ts";
import { type AnsweredCall, readArguments, type Tool } from "../../domain/tool.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import type { Services } from "../dependencies.ts";
import { openTrial, type TrialStart, type TrialTrace } from "../turns/trial.ts";
import type { TurnServices } from "../turns/turn.ts";
import { runWhole } from "../turns/whole-reply.ts";
import {
  BudgetReached,
  type EvalTarget,
  type JudgeAnswer,
  type JudgeQuestion,
  type MadeCall,
  RecordingMissing,
  type ReplyFacts,
  TurnFailed,
} from "./asked.ts";
import { verdictForm } from "./judge.ts";

export type TrialServices = TurnServices & Pick<Services, "store" | "settings" | "ids">;

/** A companion as it is tried. */
export interface TriedCompanion {
  readonly companion: Companion;
  readonly plan: Plan;
  /** Left out: those that it has. */
  readonly tools?: readonly Tool[];
}

const fenceCharacters = 20;
/** More than a judge needs; the operator pays. */
const maxJudgeTokens = 1000;

interface TrialOptions {
  /** By its slug; null if there is none. */
  find(slug: string): Promise<TriedCompanion | null>;
  /** What no recording has answered since the last call, as a sentence; null for nothing. Left out: nothing is recorded. */
  takeMiss?(): string | null;
  /** Stops the reply under way. */
  readonly signal: AbortSignal;
}

export function createTrialTarget(services: TrialServices, { find, takeMiss, signal }: TrialOptions): EvalTarget {
  const { clock, settings } = services;
  const { models } = settings.llm;

  async function get(slug: string): Promise<TriedCompanion> {
    const found = await find(slug);
    if (found === null) throw new TurnFailed(`There is no companion with the slug ${slug}.`);
    return found;
  }

  async function attempt(tried: Tried): Promise<TrialTrace> {
    const tries = tryOnce(services, signal, tried);
    // Also of replies that went on without what was missing.
    const miss = await tries.then(
      () => takeMiss?.(),
      () => takeMiss?.(),
    );
    if (miss != null) throw new RecordingMissing(miss);
    return await tries;
  }

  return {
    async ask({ companion: slug, visitor, history, turn }) {
      const { companion, plan, tools } = await get(slug);
      const startedMs = clock.monotonicMs();
      const trace = await attempt({
        ...{ companion, plan, visitor, ...(tools === undefined ? {} : { tools }) },
        message: turn.user,
        history: history.map(({ role, text }) => ({ role, parts: textParts(text) })).reverse(),
        toolResults: turn.tools,
      });
      return toFacts(trace, clock.monotonicMs() - startedMs);
    },

    async judge(question) {
      const { model } = question;
      if (model !== null && !models.includes(model)) {
        throw new TurnFailed(`The model ${model} is not offered here. Offered are: ${models.join(", ")}.`);
      }
      const { companion, plan } = await get(question.companion);
      const asked = { companion: toJudge(companion, question, settings.llm), plan, visitor: null, history: [] };
      const start = { ...asked, message: question.message, toolResults: {} };
      try {
        return toAnswer(await attempt({ ...start, form: verdictForm }));
      } catch (error) {
        if (!(error instanceof ReplyRefused)) throw error;
        return toAnswer(await attempt({ ...start, companion: { ...start.companion, temperature: null } }));
      }
    },
  };
}

/** The provider has refused the request, for what it asks for. */
class ReplyRefused extends TurnFailed {}

type Tried = Omit<TrialStart, "keyId" | "requestId" | "right" | "isOutsideDay" | "noteStored">;

/** Rejects with `TurnFailed` if there is no whole reply. */
async function tryOnce(services: TrialServices, signal: AbortSignal, tried: Tried): Promise<TrialTrace> {
  const { store, ids } = services;
  const { companion } = tried;
  const traces: TrialTrace[] = [];
  const turn = openTrial(services, {
    ...tried,
    keyId: companion.createdByKeyId,
    requestId: ids.uuid(),
    isOutsideDay: true,
    makeFence: fenceOf,
    right: {
      check: () => store.companions.checkOwned(companion.accountId, companion.id),
      refusal: () => missing("companion"),
    },
    noteStored: (trace) => traces.push(trace),
  });
  const ended = await runWhole(turn, signal).then(
    ({ outcome }) => (outcome === "complete" ? null : new Error("The reply broke off.")),
    (error: unknown) => error,
  );
  signal.throwIfAborted();
  const [trace] = traces;
  if (ended === null && trace !== undefined) return trace;
  throw toFailure(ended, trace ?? null);
}

/** By their content, so that the same passages make the same request. */
function fenceOf(passages: readonly NumberedPassage[]): string {
  const texts = passages.map(({ title, url, page, heading, text }) => [title, url, page, heading, text]);
  return sha256Hex(JSON.stringify(texts)).slice(0, fenceCharacters);
}

function toFailure(error: unknown, trace: TrialTrace | null): unknown {
  const kind = trace?.result.failure ?? findFailureKind(error);
  const costMicros = trace === null ? 0 : trace.costMicros;
  if (kind !== null) {
    const { detail } = explainFailure(kind);
    return kind === "refused_request" ? new ReplyRefused(detail, costMicros) : new TurnFailed(detail, costMicros);
  }
  if (!(error instanceof Error)) return error;
  const isSpent = error instanceof AppError && /^(budget|quota)_exceeded$/.test(error.code);
  return new (isSpent ? BudgetReached : TurnFailed)(error.message, costMicros);
}

function toFacts({ result, toolCalls, sources, isNothingFound, costMicros }: TrialTrace, totalMs: number): ReplyFacts {
  return {
    text: textOf({ parts: result.reply }),
    calls: toolCalls.map(toMadeCall),
    cited: sources.filter(({ isCited }) => isCited),
    isNoAnswer: isNothingFound,
    firstTextMs: result.firstTextMs,
    totalMs,
    costMicros,
  };
}

function toMadeCall({ name, arguments: given, outcome = "done" }: AnsweredCall): MadeCall {
  return { tool: name, arguments: readArguments(given) ?? given, outcome };
}

/** The companion with nothing of its own but whose it is, since that is who pays. */
function toJudge(
  companion: Companion,
  { instructions, model }: JudgeQuestion,
  llm: Pick<Services["settings"]["llm"], "model" | "maxOutputTokens">,
): Companion {
  return {
    ...companion,
    systemPrompt: instructions,
    model: model ?? llm.model,
    temperature: 0,
    reasoningEffort: null,
    maxOutputTokens: Math.min(maxJudgeTokens, llm.maxOutputTokens),
    // It knows nothing, and is not to say that.
    answerMode: "free",
    hasSources: false,
    toolCount: 0,
  };
}

function toAnswer({ result, costMicros }: TrialTrace): JudgeAnswer {
  return { text: textOf({ parts: result.reply }), costMicros };
}
