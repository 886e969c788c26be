/**
 * Replies that failed before their first text: the public error, and the count in usage, once per reply under its kind.
 */
import type { Services } from "../dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { findFailureKind } from "../domain/reply-failure.ts";
import type { StreamErrorCode } from "../domain/stream-end.ts";
import type { TurnEnd } from "./events.ts";
import { releaseSpending } from "./spending.ts";
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
  // The reply goes on where it runs: whoever has begun to read it here should come back.
  if (error instanceof RunsElsewhere) return { type: "end", outcome: "stopped" };
  const code = ending?.code ?? (isProvidersFailure(error) ? "upstream_error" : "unavailable");
  return { type: "end", outcome: "broken", code };
}

function isProvidersFailure(error: unknown): boolean {
  return error instanceof AppError && error.code === "upstream_error";
}

/** Of a turn whose response had begun: nobody else is told. */
export function logRefusal({ log }: Pick<Services, "log">, turn: LoggedTurn, error: unknown): void {
  if (isProvidersFailure(error)) log.warn("reply failed", toLogged(turn, error));
  else log.error("turn failed", toLogged(turn, error));
}

/**
 * Counts the failure in usage, and ends what was reserved; stores nothing else. `day` is the UTC day of admission.
 * Resolves with the public error; never rejects.
 */
export async function countFailedReply(
  services: Pick<Services, "store" | "log">,
  { companion, keyId, requestId }: Pick<TurnStart, "companion" | "keyId" | "requestId">,
  { day, reservationId }: { day: string; reservationId: string | null },
  failure: unknown,
): Promise<AppError> {
  const { store, log } = services;
  const kind = findFailureKind(failure);
  if (kind === null) {
    if (reservationId !== null) await releaseSpending(services, reservationId);
    return toUpstreamError(failure);
  }
  const { id: companionId, accountId } = companion;
  try {
    await store.turns.recordFailure({ accountId, companionId, keyId, day, kind, reservationId });
  } catch (error) {
    log.error("failed reply not counted", { requestId, companionId, error });
  }
  return toUpstreamError(failure);
}
