/**
 * Replies that failed before their first text: the public error, and the count in usage, once per reply under its kind.
 */
import { AppError } from "../../domain/errors.ts";
import { type FailureKind, findCharged, findFailureKind } from "../../domain/reply-failure.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { noTokens } from "../../domain/usage.ts";
import type { Services } from "../dependencies.ts";
import type { AskedReply } from "./admission.ts";
import type { TurnEnd } from "./events.ts";
import { type CallServices, isAnswer } from "./reply-calls.ts";
import { toTurnResult } from "./reply-request.ts";
import { noteReached } from "./spending.ts";
import { RunsElsewhere, type TurnStart } from "./turn-start.ts";

function toUpstreamError(failure: unknown): AppError {
  if (failure instanceof AppError) return failure;
  const sentence = "The language model could not answer. Try again in a moment.";
  return new AppError("upstream_error", sentence, { cause: failure });
}

/** Why the server stopped a turn. */
export interface TurnEnding {
  readonly code: StreamErrorCode;
  readonly error: AppError;
}

type LoggedTurn = Pick<TurnStart, "companion" | "requestId">;

export function toLogged({ requestId, companion }: LoggedTurn, error: unknown) {
  return { requestId, companionId: companion.id, error };
}

/** How a reply ended that is not complete. `ending` is null if the server did not stop it. */
export function toIncompleteEnd(
  { log }: Pick<Services, "log">,
  turn: LoggedTurn,
  ending: TurnEnding | null,
  failure: unknown,
): TurnEnd {
  if (ending !== null) {
    log.info("reply ended early", toLogged(turn, ending.error));
    return { type: "end", outcome: "broken", code: ending.code };
  }
  if (failure === null) return { type: "end", outcome: "stopped" };
  log.warn("reply broke off", toLogged(turn, failure));
  return { type: "end", outcome: "broken", code: "upstream_error" };
}

/** How a turn ended of which nothing is stored. */
export function toRefusedEnd(error: unknown, ending: TurnEnding | null): TurnEnd {
  if (ending?.code === "taken") return { type: "end", outcome: "broken", code: "taken" };
  // The reply goes on where it runs: a client that has begun to read it here should come back.
  if (error instanceof RunsElsewhere) return { type: "end", outcome: "stopped" };
  const code = ending?.code ?? (isProvidersFailure(error) ? "upstream_error" : "unavailable");
  return { type: "end", outcome: "broken", code };
}

/** Of a turn whose response had begun: it is reported to no one else. */
export function logRefusal({ log }: Pick<Services, "log">, turn: LoggedTurn, error: unknown): void {
  // Not refused, but kept for people.
  if (error instanceof RunsElsewhere) return;
  if (isProvidersFailure(error)) log.warn("reply failed", toLogged(turn, error));
  else log.error("turn failed", toLogged(turn, error));
}

/**
 * Counts the failure in usage, with what the provider charges for it, and ends what was reserved; stores nothing else.
 * Resolves with the public error; never rejects.
 */
export async function countFailedReply(
  services: CallServices,
  start: TurnStart,
  asked: AskedReply,
  failure: unknown,
): Promise<AppError> {
  const kind = findFailureKind(failure);
  try {
    if (kind === null) await asked.release();
    else await countFailure(services, start, asked, { kind, failure });
  } catch (error) {
    services.log.error("failed reply not counted", toLogged(start, error));
  }
  return toUpstreamError(failure);
}

async function countFailure(
  services: CallServices,
  start: TurnStart,
  asked: AskedReply,
  { kind, failure }: { kind: FailureKind; failure: unknown },
): Promise<void> {
  start.noteFailure?.(kind);
  const { countedBefore: before } = asked;
  const failed = findCharged(failure) ?? (before && { answeredBy: before, usage: noTokens });
  // A provider that has answered, if not in words, makes it one of the day's messages.
  const isCounted = before !== null || (failed !== null && isAnswer(failed));
  const hasCost = failed !== null && (isCounted || services.settings.prices.findTokenPrice(failed.answeredBy) !== null);
  const charged = hasCost ? failed : { answeredBy: null, usage: noTokens };
  const result = toTurnResult(services, start, {
    ...{ asked, knowledge: null, text: "", firstTextMs: null, isTooLong: false, isKept: false, isCounted },
    outcome: { complete: false, ...charged, finishReason: null, failure },
    end: { type: "end", outcome: "broken", code: "upstream_error" },
  });
  services.measurements.countTokens(result.usage);
  try {
    noteReached(services, await start.storage.settle(result));
  } finally {
    // Even if it is unknown whether it was counted.
    if (isCounted) asked.ticket.settle();
  }
}

export function isProvidersFailure(failure: unknown): boolean {
  return failure instanceof AppError && failure.code === "upstream_error";
}

/** Of a failure behind a tool's call. */
export function toUnavailable(failure: unknown): AppError {
  if (failure instanceof AppError) return failure;
  return new AppError("unavailable", "The reply could not go on after its tools were called.", { cause: failure });
}
