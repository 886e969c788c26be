/** Asks a model for one word, as operators do to see that it answers, how fast and at what cost. */
import type { Services } from "../../core/dependencies.ts";
import { openTrial, type TrialTrace } from "../../core/turns/trial.ts";
import type { TurnRight } from "../../core/turns/turn-start.ts";
import { runWhole } from "../../core/turns/whole-reply.ts";
import type { Account } from "../../domain/account.ts";
import { type Companion, newCompanionSettings } from "../../domain/companion.ts";
import { textOf } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { explainFailure, type FailureKind, findFailureKind } from "../../domain/reply-failure.ts";
import type { TestedModel } from "./responses.ts";

const limitMs = 60_000;
/** More than a word needs; the operator pays. */
const maxTokens = 64;
const message = "Reply with the single word: hello";
const maxShown = 200;

/**
 * Counts in usage and budgets, under the account's id instead of a companion's, and in no day's messages. Rejects with
 * `conflict` while a test of the account runs, and where spending is stopped or no budget is left.
 */
export async function testModel(
  services: Services,
  account: Account,
  model: string,
  { signal, requestId }: { signal: AbortSignal; requestId: string },
): Promise<TestedModel> {
  const { modelTests } = services.serverReports;
  if (modelTests.has(account.id)) throw new AppError("conflict", "A model is being tested. Wait for its answer.");
  modelTests.add(account.id);
  try {
    return await ask(services, account, model, { signal, requestId });
  } finally {
    modelTests.delete(account.id);
  }
}

async function ask(
  services: Services,
  account: Account,
  model: string,
  { signal, requestId }: { signal: AbortSignal; requestId: string },
): Promise<TestedModel> {
  const seen: { trace: TrialTrace | null; kind: FailureKind | null } = { trace: null, kind: null };
  const companion = toUnkept(services, account, model);
  const turn = openTrial(services, {
    ...{ companion, tools: [], plan: account.plan, keyId: null, message, history: [], visitor: null },
    ...{ toolResults: {}, isOutsideDay: true, requestId },
    right: createRight(services, account.id),
    noteFailure: (kind) => (seen.kind = kind),
    noteStored: (trace) => (seen.trace = trace),
  });
  const deadline = AbortSignal.timeout(limitMs);
  try {
    const end = await runWhole(turn, AbortSignal.any([signal, deadline]));
    if (end.outcome === "complete") return toAnswer(seen.trace, null);
    return toAnswer(seen.trace, seen.kind ?? (deadline.aborted ? "timed_out" : "broken_off"));
  } catch (error) {
    const kind = findFailureKind(error);
    if (kind === null) throw error;
    return toAnswer(seen.trace, kind);
  }
}

/** Stops and budgets hold for it; the session is not asked again: a test takes seconds. */
function createRight({ store, clock }: Services, accountId: string): TurnRight {
  return {
    async check() {
      const page = { limit: 1, afterId: null };
      const [stoppedAt, { items }] = await Promise.all([
        store.spending.findStop(accountId),
        store.spending.listBudgets(accountId, page, clock.nowMs()),
      ]);
      if (stoppedAt !== null) throw new AppError("unavailable", "Spending is stopped. Resume it, then test the model.");
      return { isStopped: false, hasBudgets: items.length > 0, hasWebhooks: false };
    },
    refusal: () => new AppError("unavailable", "The test was stopped. Try again."),
  };
}

/** Of no store: the account's own id is what usage counts it under. */
function toUnkept({ clock }: Services, { id }: Account, model: string): Companion {
  const nowMs = clock.nowMs();
  return {
    ...newCompanionSettings("Test"),
    ...{ id, accountId: id, model, maxOutputTokens: maxTokens, version: 1, embedToken: null },
    ...{ avatarHash: null, avatarBytes: null, seenOn: null, hasSources: false, toolCount: 0, hadPeople: false },
    ...{ createdByKeyId: null, createdAt: nowMs, updatedAt: nowMs },
  };
}

function toAnswer(trace: TrialTrace | null, kind: FailureKind | null): TestedModel {
  const firstTextMs = trace?.result.firstTextMs ?? null;
  return {
    ok: kind === null,
    text:
      kind === null && trace !== null ? textOf({ parts: trace.result.reply }).slice(0, maxShown).toWellFormed() : null,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    cost_micros: trace?.costMicros ?? null,
    kind,
    detail: kind === null ? null : explainFailure(kind).detail,
  };
}
