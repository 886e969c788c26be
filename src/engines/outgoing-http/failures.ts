/** What goes wrong with requests, as values: sentences that reveal nothing of the network that we are in. */
import type { OutgoingFailure, OutgoingFailureKind } from "../../contracts/outgoing-http.ts";
import { isUntrustedCertificate } from "../../lib/certificate.ts";
import { ConnectionError } from "../../lib/http/connection.ts";
import { HttpProtocolError } from "../../lib/http/response-reader.ts";
import { maxUrlLength, RefusedTarget } from "../../lib/http/target.ts";

const refusals = {
  scheme: ["url", "The URL must begin with https://."],
  http: ["url", "The URL must begin with https://: this server's operator has not allowed http:// to its host."],
  length: ["url", `The URL must not be longer than ${maxUrlLength} characters.`],
  credentials: ["url", "The URL must not contain a user name or password."],
  port: ["url", "The URL has the port of another protocol."],
  notPublic: ["url", "The URL does not lead to a public host."],
  unresolved: ["not_connected", "The host name could not be resolved."],
  header: ["headers", "A header's name or value cannot be sent."],
  large: ["too_large", "The host's response is too long."],
  compressed: ["broken", "The host compressed its response without being asked to."],
} as const satisfies Record<string, readonly [OutgoingFailureKind, string]>;

export type RefusalReason = keyof typeof refusals;

/** Thrown within the engine. */
export class Refusal extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Thrown within the engine, when the time is over. */
export class Late extends Error {}

export function sentenceOf(reason: RefusalReason): string {
  return refusals[reason][1];
}

interface FailedRequest {
  readonly timeoutMs: number;
  /** Null before the head. */
  readonly status: number | null;
}

/** Throws what is none of the network's failures. */
export function toFailure(error: unknown, { timeoutMs, status }: FailedRequest): OutgoingFailure {
  const failWith = (kind: OutgoingFailureKind, reason: string) => ({
    outcome: "failed" as const,
    kind,
    status,
    reason,
  });
  const refused = error instanceof Refusal ? error.reason : error instanceof RefusedTarget ? error.fault : null;
  if (refused !== null) {
    const [kind, reason] = refusals[refused];
    return failWith(kind, reason);
  }
  if (error instanceof Late) return failWith("timeout", `The host did not answer within ${timeoutMs / 1000} s.`);
  if (!(error instanceof ConnectionError)) throw error;
  if (error.cause instanceof HttpProtocolError) return failWith("broken", "The host's response is not HTTP.");
  if (error.wasOpen) return failWith("broken", "The host broke off its response.");
  const code = error.code ?? "";
  const isCertificate = isUntrustedCertificate(code) || code === "ERR_TLS_CERT_ALTNAME_INVALID";
  return failWith(
    "not_connected",
    isCertificate ? "The host's certificate is not valid." : "The host could not be reached.",
  );
}
