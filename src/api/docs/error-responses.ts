/** The errors of a call in the API document: problem details, with the codes that each status can carry. */
import { AppError, type ErrorCode, errorCodes, type FieldError } from "../../domain/errors.ts";
import { isEmbedAccess } from "../../http/api-description.ts";
import { isOpenAiPath, toOpenAiError } from "../../http/openai-error.ts";
import type { DescribedRoute } from "./described-route.ts";
import { listHeaders } from "./headers.ts";
import type { JsonSchema } from "./schema-text.ts";

export interface Reference {
  $ref: string;
}

/** References by status, to `components`, which takes what is new. The same codes share one component. */
export function describeErrors(
  operation: DescribedRoute,
  components: Map<string, JsonSchema>,
  baseUrl: string,
): Record<string, Reference> {
  const byStatus = Map.groupBy(listErrorCodes(operation), (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      // Outside the API, browsers get a page.
      const isPage = !/^\/(api|v1)\//.test(operation.path);
      const isOpenAi = isOpenAiPath(operation.path);
      const name = `${isOpenAi ? "OpenAi" : ""}${codes.map(toComponentName).join("Or")}${isPage ? "Page" : ""}`;
      if (!components.has(name)) {
        components.set(name, isOpenAi ? describeOpenAiError(codes) : describeProblem(codes, isPage, baseUrl));
      }
      return [String(status), { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function describeHead(codes: readonly ErrorCode[]) {
  const isLimit = codes.some((code) => errorCodes[code].status === 429);
  const isAuth = codes.includes("unauthorized") || codes.includes("visitor_unverified");
  const titles = codes.map((code) => errorCodes[code].title);
  return {
    description: `${codes.map((code) => `\`${code}\``).join(" or ")}: ${titles.join("; ")}`,
    headers: listHeaders("public", [...(isLimit ? ["Retry-After"] : []), ...(isAuth ? ["WWW-Authenticate"] : [])]),
  };
}

function describeOpenAiError(codes: readonly ErrorCode[]): JsonSchema {
  const faults: Partial<Record<ErrorCode, FieldError>> = {
    invalid_request: { param: "messages", detail: "Must be a list of at least one message." },
    not_found: { param: "model", detail: "There is no such model." },
  };
  const examples = codes.map((code) => {
    const fault = faults[code];
    const error = new AppError(code, "What happened, and what to do.", fault === undefined ? {} : { errors: [fault] });
    return [code, { value: { error: toOpenAiError(error) } }] as const;
  });
  return {
    ...describeHead(codes),
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/OpenAiError" },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function describeProblem(codes: readonly ErrorCode[], isPage: boolean, baseUrl: string): JsonSchema {
  return {
    ...describeHead(codes),
    content: {
      "application/problem+json": {
        // One schema for all: generated clients make a type of each further one. The codes are in the description.
        schema: { $ref: "#/components/schemas/Problem" },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleProblem(code, baseUrl) }])),
      },
      ...(isPage ? { "text/html": { schema: { type: "string" } } } : {}),
    },
  };
}

const exampleChallenge = {
  algorithm: "SHA-256",
  challenge: "2a5d9c3f1be07a6648d01c7e9f3b5a824c6e0d1f7b9a3c5e8d2f4b6a0c1e3d57",
  maxnumber: 100_000,
  salt: "6b2a0f4c9d8e7f1a2b3c4d5e?expires=1767225900&",
  signature: "9e1c4b7a2d5f8e0c3b6a9d2f5e8c1b4a7d0f3e6c9b2a5d8f1e4c7b0a3d6f9e2c",
};

function exampleProblem(code: ErrorCode, baseUrl: string) {
  const { status, title } = errorCodes[code];
  return {
    type: `${baseUrl}/docs/errors#${code}`,
    title,
    status,
    detail: "What happened, and what to do.",
    code,
    request_id: "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10",
    ...(code === "challenge_required" ? { challenge: exampleChallenge } : {}),
    ...(code === "invalid_request" ? { errors: [{ param: "name", detail: "This field is required." }] } : {}),
  };
}

function toComponentName(code: ErrorCode): string {
  return code.replace(/(^|_)([a-z])/g, (_match, _separator, letter: string) => letter.toUpperCase());
}

/** All errors from guards, body, parameters and the route itself, in the order of the table of codes. */
function listErrorCodes(operation: DescribedRoute): ErrorCode[] {
  const { access, method, path, body } = operation;
  // A request for a host that is none is invalid on every route.
  const codes = new Set<ErrorCode>(["internal", "unavailable", "invalid_request", ...(operation.errors ?? [])]);
  const add = (...more: ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  if (isEmbedAccess(access)) add("rate_limited", "not_found", "origin_not_allowed");
  else if (access !== "public") {
    add("unauthorized", "totp_required", "insufficient_scope", "rate_limited");
    if (method !== "GET") add("origin_not_allowed");
    if (path.includes("{")) add("not_found");
  }
  if (asksVisitor(operation)) add("visitor_unverified");
  if (operation.asksWork) add("challenge_required");
  if (body) add("payload_too_large", "unsupported_media_type");
  // Creating can exceed a limit, and so can storing the responses.
  if (operation.isIdempotent) add("conflict", "idempotency_mismatch", "limit_reached");
  return (Object.keys(errorCodes) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Whether it checks visitor tokens. */
export function asksVisitor({ access, isPageView }: DescribedRoute): boolean {
  return isEmbedAccess(access) && isPageView !== true;
}
