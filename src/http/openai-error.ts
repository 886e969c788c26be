/** Errors of the routes that OpenAI's clients call, in the shape that these clients read. */
import { type AppError, type ErrorCode, errorCodes } from "../domain/errors.ts";

/** Whether the URL's or the path's errors have that shape. */
export function isOpenAiPath(path: string): boolean {
  return /^\/+v1(\/|$)/.test(path);
}

/** The code that OpenAI has for it; all others are our own. */
const theirCodes: Partial<Record<ErrorCode, string>> = {
  unauthorized: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  quota_exceeded: "insufficient_quota",
};

const unpaid: readonly ErrorCode[] = ["quota_exceeded", "budget_exceeded"];

function typeOf(code: ErrorCode): string {
  if (unpaid.includes(code)) return "insufficient_quota";
  if (code === "rate_limited") return "rate_limit_error";
  return errorCodes[code].status >= 500 ? "server_error" : "invalid_request_error";
}

export interface OpenAiError {
  message: string;
  type: string;
  /** The first field at fault, or null. */
  param: string | null;
  code: string;
}

/** `message` has everything, since clients show nothing else. */
export function toOpenAiError({ code, message, errors = [] }: AppError): OpenAiError {
  const [first] = errors;
  const isModel = code === "not_found" && first?.param === "model";
  const details = code === "invalid_request" ? errors.map(({ param, detail }) => ` ${param}: ${detail}`) : [];
  return {
    message: message + details.join(""),
    type: typeOf(code),
    param: first?.param ?? null,
    code: isModel ? "model_not_found" : (theirCodes[code] ?? code),
  };
}

/** The clients retry a 429 automatically, soon: in vain, where something is used up for the day or the month. */
export function retryHeaders({ code }: AppError): Readonly<Record<string, string>> {
  return unpaid.includes(code) ? { "x-should-retry": "false" } : {};
}
