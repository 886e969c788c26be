/** Errors for accounts that hold as much as they may; each names the limit and the remedy. */
import { AppError } from "./errors.ts";

const orAsk = "or ask the operator for more.";

export const limitReached = {
  companions: (limit: number) =>
    refusal(`This account may hold ${count(limit, "companion")}. Delete one that is not needed, ${orAsk}`),
  keys: (limit: number) =>
    refusal(`This account may hold ${count(limit, "API key")}. Revoke one that is not needed, ${orAsk}`),
  tokens: (limit: number) =>
    refusal(`A companion of this account may have ${count(limit, "embed token")}. Revoke one, ${orAsk}`),
  members: (limit: number) =>
    refusal(`This account may have ${count(limit, "member")} beside its own sign-in. Remove one, ${orAsk}`),
  bytes: (limit: number) =>
    refusal(
      `This account's companions and their sources may take up ${describeBytes(limit)}. Shorten or delete some, ${orAsk}`,
    ),
  responses: (limit: number) =>
    refusal(
      `The responses stored for this account's Idempotency-Keys may take up ${describeBytes(limit)}. Each is kept for 24 hours: ` +
        "wait, or send the request without the header.",
    ),
};

function refusal(sentence: string): AppError {
  return new AppError("limit_reached", sentence);
}

function count(limit: number, noun: string): string {
  return limit === 1 ? `one ${noun}` : `${limit} ${noun}s`;
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** In the largest unit that gives a whole number. */
function describeBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && amount % 1024 === 0 && unit < units.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${amount} ${units[unit]}`;
}
