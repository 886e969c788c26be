/** What the port of plain HTTP answers beside `--domain`: the authority's challenges, redirects to HTTPS, and no more. */
import { AppError, errorCodes } from "../domain/errors.ts";
import type { IdSource } from "../lib/ids.ts";
import { isOpenAiPath, toOpenAiError } from "./openai-error.ts";
import { renderProblem } from "./problem.ts";

export interface ClearAnswersOptions {
  /** In lower case; a request for any other host is sent to the first. */
  readonly domains: readonly string[];
  /** The port of HTTPS as visitors see it. */
  readonly httpsPort: number;
  readonly findChallenge: (token: string) => Promise<string | null>;
  readonly ids: Pick<IdSource, "uuid">;
}

/** `missed`: a challenge that no order waits for. */
export const clearOutcomes = ["challenge", "missed", "redirect", "refused"] as const;
export type ClearOutcome = (typeof clearOutcomes)[number];

export interface ClearAnswer {
  readonly outcome: ClearOutcome;
  readonly response: Response;
}

const challengePath = "/.well-known/acme-challenge/";
const challengeToken = /^[\w-]{1,200}$/;
/** Browsers forget the redirect after an hour, so that a port which was tried once does not stay with them. */
const redirectHeaders = { "cache-control": "max-age=3600" };
const maxPath = 8192;

/** What lets someone in, and what to do about its having been sent unencrypted. */
const keyHeaders = {
  authorization: "The key of this request was sent unencrypted: replace it.",
  "x-visitor-token":
    "The visitor token of this request was sent unencrypted: anyone who has seen it can act as that visitor until it ends.",
};

/**
 * Only what reads without a key is redirected. A client with a key would follow a redirect, work, and go on sending the
 * key unencrypted with each first request: it is refused, so that it gets fixed.
 */
export function createClearAnswers(options: ClearAnswersOptions): (request: Request) => Promise<ClearAnswer> {
  const { domains, httpsPort, findChallenge, ids } = options;
  const [first = "localhost"] = domains;

  function baseUrlFor(request: Request): string {
    const asked = request.headers.get("host")?.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "") ?? "";
    const domain = domains.includes(asked) ? asked : first;
    return httpsPort === 443 ? `https://${domain}` : `https://${domain}:${httpsPort}`;
  }

  async function answerChallenge(token: string): Promise<ClearAnswer> {
    const body = challengeToken.test(token) ? await findChallenge(token) : null;
    if (body === null) return { outcome: "missed", response: end(404, {}, "There is no such challenge here.\n") };
    const headers = { "content-type": "application/octet-stream", "cache-control": "no-store" };
    return { outcome: "challenge", response: end(200, headers, body) };
  }

  function refuse(request: Request, path: string): ClearAnswer {
    const baseUrl = baseUrlFor(request);
    const sentences = [`Send this request to ${baseUrl}: here it is not encrypted.`, ...listLeaks(request)];
    const error = new AppError("https_required", sentences.join(" "));
    const requestId = ids.uuid();
    const isOpenAi = isOpenAiPath(path);
    const body = isOpenAi ? JSON.stringify({ error: toOpenAiError(error) }) : renderProblem(error, requestId, baseUrl);
    const headers = {
      "content-type": isOpenAi ? "application/json" : "application/problem+json",
      "cache-control": "no-store",
      "x-request-id": requestId,
    };
    return { outcome: "refused", response: end(errorCodes.https_required.status, headers, body) };
  }

  return async (request) => {
    const path = pathOf(request.url);
    const isReading = request.method === "GET" || request.method === "HEAD";
    if (isReading && path.startsWith(challengePath)) {
      return await answerChallenge(path.slice(challengePath.length).replace(/\?.*$/, ""));
    }
    if (!isReading || listLeaks(request).length > 0) return refuse(request, path);
    const location = baseUrlFor(request) + path;
    return { outcome: "redirect", response: end(301, { ...redirectHeaders, location }, null) };
  };
}

function listLeaks({ headers }: Request): string[] {
  return Object.entries(keyHeaders).flatMap(([name, sentence]) => (headers.has(name) ? [sentence] : []));
}

/** The path with its query, in characters that belong into a URL; `/` where the request names no host or path. */
function pathOf(url: string): string {
  const path = /^http:\/\/[^/?#]*(\/[\x21-\x7e]*)$/.exec(url)?.[1];
  return path === undefined || path.length > maxPath ? "/" : path;
}

/** Nothing more is expected on the connection. */
function end(status: number, headers: Record<string, string>, body: string | null): Response {
  return new Response(body, {
    status,
    headers: { "x-content-type-options": "nosniff", connection: "close", ...headers },
  });
}
