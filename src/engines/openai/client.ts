/**
 * The openai package, isolated here: it knows addresses, authentication and errors.
 *
 * It builds the head of the requests once, and interprets error responses when there are any; the requests themselves
 * are a body and a socket, without it. Loading it takes longer than opening the whole store, so it is loaded with the
 * first reply.
 */
import OpenAI, { APIError, type ClientOptions } from "openai";
import { isTransientStatus, ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import type { RequestHead } from "../../lib/http/client.ts";
import type { ResponseHead } from "../../lib/http/response-reader.ts";
import type { Wire } from "./wire.ts";

export interface OpenAiClientOptions {
  apiKey: string | null;
  /** Up to and including `/v1`. */
  baseUrl: string;
  /** Below it. */
  path: Wire["path"] | "/embeddings";
  /** The operator's; none that the package or the connection needs. */
  headers: Readonly<Record<string, string>>;
}

/** The package adds headers from the environment (`OPENAI_CUSTOM_HEADERS`) to those given, and has no option against it. */
class Client extends OpenAI {
  constructor(options: ClientOptions) {
    super(options);
    this._options.defaultHeaders = options.defaultHeaders;
  }
}

/** The shared part of every request. */
export async function buildRequestHead({ apiKey, baseUrl, path, headers }: OpenAiClientOptions): Promise<RequestHead> {
  const client = new Client({
    // The package insists on a key; without one we remove the header that would contain it.
    apiKey: apiKey ?? "none",
    // The package derives its name from a class, which has a different name in the compiled program.
    defaultHeaders: { "User-Agent": "companiond", ...headers, ...(apiKey === null ? { Authorization: null } : {}) },
    baseURL: baseUrl,
    // Otherwise read from the environment, which only `config` may do.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
  });
  const { req, url } = await client.buildRequest({ method: "post", path, body: {} });
  return { url: new URL(url), method: "POST", headers: new Headers(req.headers) };
}

/** An error response, in the provider's own words. */
export function readRefusal({ status, headers }: ResponseHead, text: string): ProviderFailure {
  const parsed = parseObject(text);
  // Some, such as Mistral and servers built on FastAPI, have another form: then the whole body is the message.
  const body = parsed !== undefined && "error" in parsed ? parsed : undefined;
  // A redirect is an error too: the key must not go to an address that the operator did not configure.
  const { message, error } = APIError.generate(status, body, body === undefined ? text : undefined, new Headers());
  const { param, code, innererror } = asFields(error);
  // Azure sends the same in several versions of its API.
  const codes = [code, asFields(innererror).code];
  const isFiltered = status === 400 && codes.some((one) => one === "content_filter" || one === violation);
  return new ProviderFailure(`the provider answered ${message}`, {
    status,
    ...(isFiltered ? { kind: "filtered" as const } : {}),
    param: asWord(param),
    code: asWord(code),
    isTransient: isTransientStatus(status) && headers.get("x-should-retry") !== "false",
    retryAfterMs: readRetryAfterMs(headers.get("retry-after") ?? null),
  });
}

const violation = "ResponsibleAIPolicyViolation";

function asFields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Some gateways, written in Python, have a word for nothing. */
function asWord(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value !== "None" ? value : null;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function readRetryAfterMs(value: string | null): number | null {
  const waitMs =
    value !== null && /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value ?? "") - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}
