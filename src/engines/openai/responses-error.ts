/** What a Responses stream reports instead of a reply, or of its rest: an `error` event, or a response that failed. */
import { isJsonObject } from "../../domain/json.ts";
import type { EventError, EventReading } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;

const statusOfCode: ReadonlyMap<unknown, number> = new Map([
  ["rate_limit_exceeded", 429],
  ["insufficient_quota", 429],
  ["credit_balance_exhausted", 429],
  ["server_error", 500],
]);

/** Documented with code and message beside the type; OpenAI puts both into a member `error`. */
export function readResponseError(event: Fields): EventError {
  const { error } = event;
  if (typeof error === "string") return { message: error, status: null };
  const fields = isJsonObject(error) ? error : event;
  const message = typeof fields.message === "string" ? fields.message : JSON.stringify(fields);
  if (fields.code === "content_filter") return { message, status: 400, kind: "filtered" };
  return { message, status: readStatus(event.status) ?? statusOf(fields, fields === event) };
}

/** Of a response that ended with another status than `completed`. */
export function readUnfinished(status: string, response: Fields): Pick<EventReading, "finishReason" | "error"> {
  if (status === "failed" || status === "cancelled") {
    const error = isJsonObject(response.error)
      ? readResponseError({ error: response.error })
      : { message: `the response ${status === "failed" ? "failed" : "was cancelled"}`, status: null };
    return { finishReason: null, error };
  }
  // A document that is not finished ends nothing.
  if (status !== "incomplete") return { finishReason: null, error: null };
  const reason = isJsonObject(response.incomplete_details) ? response.incomplete_details.reason : null;
  const isBound = typeof reason !== "string" || reason === "" || reason === "max_output_tokens";
  return { finishReason: isBound ? "length" : reason, error: null };
}

/** In a flat event the type is that of the event, and carries no information. */
function statusOf({ code, type }: Fields, isFlat: boolean): number | null {
  const words = isFlat ? [code] : [code, type];
  const known = readStatus(code) ?? statusOfCode.get(code) ?? (isFlat ? undefined : statusOfCode.get(type));
  return known ?? (words.some((word) => typeof word === "string" && word !== "") ? 400 : null);
}

/** Gateways give the status of an HTTP response, as a number or as a text. */
function readStatus(value: unknown): number | null {
  const status = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : null;
}
