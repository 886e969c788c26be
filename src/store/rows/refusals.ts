/** What every engine refuses in the same words. */
import { mostBudgets } from "../../domain/budget.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import { maxSources } from "../../domain/knowledge.ts";
import { mostKeysOfFilter, mostVisitorKeys } from "../../domain/visitor.ts";

/** `cause`: what the database said, where it was that which found out. */
export function addressTaken(cause?: unknown): AppError {
  return invalidFields([{ param: "email", detail: "There is already an account with this address." }], cause);
}

/** Of a grant: the agent belongs to the server itself. */
export function agentIsManaged(): AppError {
  return invalidFields([{ param: "agent_id", detail: "The server keeps this agent for a companion." }]);
}

export function agentIsGranted(): AppError {
  return invalidFields([{ param: "agent_id", detail: "The account already has this agent." }]);
}

export function noSuchAccount(): AppError {
  return new AppError("not_found", "There is no such account.");
}

/** The commit of another request with the same key was first, and this one's is undone. */
export function answeredMeanwhile(): AppError {
  return new AppError(
    "conflict",
    "Another request with this Idempotency-Key came first. Send it again for its response.",
  );
}

/** Of a filter, so that one takes the other's place. */
export function tooManyKeysOfFilter(): AppError {
  const sentence = `There are ${mostKeysOfFilter} visitor keys for these companions already. Revoke one first.`;
  return new AppError("conflict", sentence);
}

export function tooManyVisitorKeys(): AppError {
  return new AppError("limit_reached", `An account has at most ${mostVisitorKeys} visitor keys. Revoke one first.`);
}

export function tooManyBudgets(): AppError {
  return new AppError("limit_reached", `An account has at most ${mostBudgets} budgets. Delete one first.`);
}

/** Of the source that has the answers of a full companion. */
export function tooLongAnswers(): AppError {
  return new AppError("conflict", "The source of answers is full. Shorten it, or delete another source first.");
}

export function tooManySources(): AppError {
  return new AppError("conflict", `A companion has at most ${maxSources} sources. Delete one first.`);
}
