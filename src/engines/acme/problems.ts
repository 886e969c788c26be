/** What an authority's refusals mean (RFC 8555, section 6.7). */
import { AuthorityFailure, type AuthorityFailureKind } from "../../contracts/certificates/authority.ts";

const prefix = "urn:ietf:params:acme:error:";

const kinds: Readonly<Record<string, AuthorityFailureKind>> = {
  rateLimited: "limited",
  dns: "dns",
  connection: "connection",
  tls: "connection",
  unauthorized: "unauthorized",
  incorrectResponse: "unauthorized",
  caa: "caa",
  rejectedIdentifier: "name",
  unsupportedIdentifier: "name",
  invalidContact: "email",
  unsupportedContact: "email",
  userActionRequired: "terms",
  accountDoesNotExist: "account",
  externalAccountRequired: "account",
  serverInternal: "away",
};

/** A week is the longest window of the known authorities' limits. */
const maxRestMs = 8 * 24 * 60 * 60_000;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly data: unknown;
}

/** Of a response that refuses. */
export function toFailure({ status, headers, data }: Answer): AuthorityFailure {
  const problem = readProblem(data);
  const kind = problem.kind ?? kindOfStatus(status);
  const detail = problem.detail ?? `it answered with status ${status}`;
  // Of the account, and not of a name, since no name was checked yet.
  const meant = kind === "unauthorized" ? "account" : kind;
  return new AuthorityFailure({
    kind: meant,
    detail,
    domain: problem.domain,
    retryAfterMs: readRetryAfter(headers["retry-after"], Date.parse(headers["date"] ?? "")),
  });
}

/** Of a name's check or an order that failed: the problem document in it. */
export function toCheckFailure(problemDocument: unknown, domain: string | null): AuthorityFailure {
  const { kind, detail, domain: named } = readProblem(problemDocument);
  return new AuthorityFailure({
    kind: kind ?? "refused",
    detail: detail ?? "without a reason",
    domain: named ?? domain,
  });
}

interface Problem {
  kind: AuthorityFailureKind | null;
  detail: string | null;
  domain: string | null;
}

function readProblem(data: unknown): Problem {
  if (!isRecord(data)) return { kind: null, detail: null, domain: null };
  const [first] = Array.isArray(data["subproblems"]) ? data["subproblems"] : [];
  // The first name's explains more than "some names were refused".
  if (isRecord(first) && typeof first["type"] === "string") return readProblem({ ...first, subproblems: [] });
  const { type, detail, identifier } = data;
  const domain = isRecord(identifier) ? identifier["value"] : null;
  return {
    kind: typeof type === "string" && type.startsWith(prefix) ? (kinds[type.slice(prefix.length)] ?? "refused") : null,
    detail: typeof detail === "string" ? detail : null,
    domain: typeof domain === "string" ? domain : null,
  };
}

function kindOfStatus(status: number): AuthorityFailureKind {
  if (status === 429) return "limited";
  return status >= 500 || status === 404 || status < 400 ? "away" : "refused";
}

/** Seconds or a date (RFC 9110, section 10.2.3). The date is compared with that of the same clock. */
function readRetryAfter(header: string | undefined, sentAtMs: number): number | null {
  if (header === undefined) return null;
  const restMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - sentAtMs;
  return Number.isNaN(restMs) || restMs <= 0 ? null : Math.min(restMs, maxRestMs);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
