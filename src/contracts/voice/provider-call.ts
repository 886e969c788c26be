/** One HTTP call to a voice provider: deadline, safe retries, and public errors that reveal nothing. */
import { AppError } from "../../domain/errors.ts";
import { codeOf } from "../../lib/error-code.ts";

export interface ProviderCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: unknown;
  /** Whether repeating it is harmless: then broken connections and 5xx are retried too. */
  isRepeatable: boolean;
  /** Removed from the cause of a failure. */
  secret: string;
  /** For all attempts together. */
  deadlineMs: number;
  /** The pause before each retry. */
  retryDelaysMs: readonly number[];
  /** Asked before each attempt: what it rejects with ends the call. */
  permit?: (() => Promise<void>) | undefined;
}

export interface ProviderResponse {
  status: number;
  text: string;
}

const maxResponseBytes = 1024 * 1024;

/** The response to a call that succeeded or returned 404; anything else rejects with `upstream_error`. */
export async function callProvider(call: ProviderCall, signal: AbortSignal): Promise<ProviderResponse> {
  const deadline = AbortSignal.timeout(call.deadlineMs);
  const either = AbortSignal.any([signal, deadline]);
  for (let attempt = 0; ; attempt++) {
    await call.permit?.();
    const result = await attemptCall(call, either);
    if ("response" in result) return result.response;
    const delayMs = call.retryDelaysMs[attempt];
    if (!result.mayRetry || delayMs === undefined || either.aborted) throw upstreamError(result.cause);
    // We do not wait for a provider that asks for a long pause: the visitor gets a response instead.
    if (result.retryAfterMs > call.deadlineMs / 2) throw upstreamError(result.cause);
    const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");
    await pause(Math.max(delayMs, result.retryAfterMs), null, { signal: either }).catch(() => {});
    if (either.aborted) throw upstreamError(result.cause);
  }
}

export function upstreamError(cause: unknown): AppError {
  return new AppError("upstream_error", "The voice provider could not start the session. Try again in a moment.", {
    cause,
  });
}

type Attempt = { response: ProviderResponse } | { cause: Error; mayRetry: boolean; retryAfterMs: number };

async function attemptCall(call: ProviderCall, signal: AbortSignal): Promise<Attempt> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(call.url, {
      method: call.method,
      headers: { ...call.headers, ...(call.body === undefined ? {} : { "content-type": "application/json" }) },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      // A redirect would carry the key to another host.
      redirect: "manual",
      // On a keep-alive connection that was just closed, fetch would repeat the request automatically.
      keepalive: call.isRepeatable,
      signal,
    });
    text = await readText(response);
  } catch (error) {
    const cause = new Error(describe(call, `failed: ${redact(call, String(error))}`));
    return { cause, mayRetry: call.isRepeatable || neverSentCodes.has(codeOf(error)), retryAfterMs: 0 };
  }
  const { status } = response;
  if ((status >= 200 && status < 300) || status === 404) return { response: { status, text } };
  const cause = new Error(describe(call, `answered ${status}${redact(call, explain(text))}`));
  const mayRetry = status === 429 || (status >= 500 && call.isRepeatable);
  return { cause, mayRetry, retryAfterMs: readRetryAfterMs(response.headers.get("retry-after")) };
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of response.body) {
    total += chunk.length;
    if (total > maxResponseBytes) throw new Error("response too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, total).toString("utf8");
}

const neverSentCodes = new Set(["ConnectionRefused", "FailedToOpenSocket", "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

function readRetryAfterMs(header: string | null): number {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : 0;
}

function describe(call: ProviderCall, what: string): string {
  return `${call.method} ${new URL(call.url).pathname} ${what}`;
}

function redact(call: ProviderCall, text: string): string {
  return text.replaceAll(call.secret, "[redacted]");
}

/**
 * The provider's explanation, for the log. Only fields known to contain no input: a validation error repeats what was
 * sent, and that includes a prompt.
 */
function explain(text: string): string {
  let detail: unknown;
  try {
    detail = (JSON.parse(text) as { detail?: unknown } | null)?.detail;
  } catch {
    return ", not as JSON";
  }
  const parts = Array.isArray(detail) ? detail.slice(0, 5).map(explainInvalidField) : [explainDetail(detail)];
  const said = parts.filter((part) => part !== "").join("; ");
  return said === "" ? "" : `: ${said.slice(0, 500)}`;
}

function explainInvalidField(entry: unknown): string {
  const { loc, type } = (entry ?? {}) as { loc?: unknown; type?: unknown };
  return `${Array.isArray(loc) ? loc.join(".") : "?"} ${typeof type === "string" ? type : "invalid"}`;
}

function explainDetail(detail: unknown): string {
  if (typeof detail === "string") return detail.slice(0, 200);
  if (typeof detail !== "object" || detail === null) return "";
  const { status, message } = detail as { status?: unknown; message?: unknown };
  return [status, message].filter((part) => typeof part === "string").join(", ");
}
