/**
 * Requests to an authority: over HTTPS, bounded in time and size, with failures as `AuthorityFailure`; and its
 * directory.
 */
import { AuthorityFailure } from "../../contracts/certificates/authority.ts";
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { startDeadline } from "../../lib/deadline.ts";
import { codeOf } from "../../lib/error-code.ts";
import { toFailure } from "./problems.ts";

/** As the library reads responses. */
export interface AuthorityResponse {
  status: number;
  headers: Record<string, string>;
  /** What JSON holds, or text. */
  data: unknown;
}

export interface AuthorityCall {
  method: string;
  headers?: Record<string, string>;
  data?: unknown;
}

/** `fetch`, which tests replace. */
export type AuthorityFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How an authority is asked, and until when. */
export interface Line {
  readonly fetch: AuthorityFetch;
  readonly signal: AbortSignal;
}

const requestMs = 30_000;
/** A chain of certificates has a few kilobytes, an order of a hundred names a few more. */
const maxBytes = 1024 * 1024;
const badNonce = "urn:ietf:params:acme:error:badNonce";

/** Resolves with what was asked for; and with a refused nonce, which the library replaces. */
export async function callAuthority(url: string, call: AuthorityCall, line: Line): Promise<AuthorityResponse> {
  const answer = await askAuthority(url, call, line);
  const isGranted = answer.status >= 200 && answer.status < 300;
  if (isGranted || isBadNonce(answer.data)) return answer;
  throw toFailure(answer);
}

/** Resolves with any response. */
export async function askAuthority(url: string, call: AuthorityCall, line: Line): Promise<AuthorityResponse> {
  const deadline = startDeadline(line.signal, requestMs, () => away("it did not answer in time"));
  try {
    const response = await line.fetch(url, {
      method: call.method.toUpperCase(),
      headers: { "user-agent": "companiond", ...call.headers },
      ...(call.data === undefined ? {} : { body: JSON.stringify(call.data) }),
      redirect: "manual",
      signal: deadline.signal,
    });
    const text = await readText(response);
    return { status: response.status, headers: Object.fromEntries(response.headers), data: parse(text) };
  } catch (error) {
    if (deadline.signal.aborted) throw deadline.signal.reason;
    throw error instanceof AuthorityFailure ? error : describeBroken(error);
  } finally {
    deadline.end();
  }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > maxBytes) throw new AuthorityFailure({ kind: "unusable", detail: "its answer is too long" });
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function parse(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isBadNonce(data: unknown): boolean {
  return typeof data === "object" && data !== null && "type" in data && data.type === badNonce;
}

const reasons: Readonly<Record<string, string>> = {
  ConnectionRefused: "connection refused",
  ECONNREFUSED: "connection refused",
  ConnectionClosed: "the connection broke off",
  ECONNRESET: "the connection broke off",
  FailedToOpenSocket: "it cannot be reached",
  ENOTFOUND: "its name has no address; check COMPANIOND_ACME_DIRECTORY",
  EAI_AGAIN: "its name could not be looked up",
};

function describeBroken(error: unknown): AuthorityFailure {
  const code = codeOf(error);
  if (isUntrustedCertificate(code)) return new AuthorityFailure({ kind: "untrusted", detail: code }, error);
  const detail = reasons[code] ?? (error instanceof Error ? error.message : String(error));
  return new AuthorityFailure({ kind: "away", detail }, error);
}

function away(detail: string): AuthorityFailure {
  return new AuthorityFailure({ kind: "away", detail });
}

const needed = ["newNonce", "newAccount", "newOrder"];

/**
 * The directory of an authority (RFC 8555, section 7.1.1): the one address that an operator types. Rejects with the
 * kind `directory` for any other answer there: a retry would not help.
 */
export async function readDirectory(url: string, line: Line): Promise<AuthorityResponse> {
  const answer = await askAuthority(url, { method: "get" }, line);
  const { status, headers, data } = answer;
  if (status === 429 || status >= 500) throw toFailure(answer);
  const location = headers["location"] === undefined ? "" : `, and points to ${headers["location"]}`;
  if (status !== 200) throw new AuthorityFailure({ kind: "directory", detail: `status ${status}${location}` });
  const named = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const missing = needed.filter((name) => typeof named[name] !== "string");
  if (missing.length === 0) return answer;
  const detail = missing.length === needed.length ? "no addresses of ACME in it" : `no ${missing.join(" and ")} in it`;
  throw new AuthorityFailure({ kind: "directory", detail });
}
