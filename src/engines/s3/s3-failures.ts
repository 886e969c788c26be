/** Failures of S3 and of the connection to it, as sentences for the operator. */
import { StorageFailure } from "../../contracts/backup-storage.ts";
import { codeOf } from "../../lib/error-code.ts";

const variable = (name: string) => `COMPANIOND_BACKUP_S3_${name}`;

const foreign = `What answers does not speak S3. Check ${variable("ENDPOINT")}.`;

/** By S3's code, the status of an answer without one, or the code of the system. */
const sentences: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: `The storage does not know the access key. Check ${variable("KEY_ID")}.`,
  SignatureDoesNotMatch: `The storage does not accept the secret of the access key. Check ${variable("SECRET")}.`,
  AccessDenied:
    "The storage refuses it (403): the access key may not do this in the bucket. It needs the rights to list the bucket, " +
    `and to get, put and delete its objects; check also ${variable("BUCKET")} and ${variable("PREFIX")}.`,
  InvalidToken: "The storage refuses the access key (403). Use a key that does not need a session token.",
  AccountProblem: "The storage has closed or locked the account (403). Ask its provider.",
  NoSuchKey: "It is not in the storage. Look for its name with companiond backups list.",
  NoSuchBucket: `There is no such bucket. Create it, or check ${variable("BUCKET")} and ${variable("ENDPOINT")}.`,
  InvalidBucketName: `The storage does not take the bucket's name. Check ${variable("BUCKET")}.`,
  RequestTimeTooSkewed:
    "The clock of this machine and that of the storage differ by more than it allows. Set this machine's clock, with NTP.",
  QuotaExceeded: "The storage is full, or its quota is used up. Remove something there, or keep fewer backups.",
  XMinioStorageFull: "The storage is full. Remove something there, or keep fewer backups.",
  EntityTooLarge: "The storage does not take objects of this size. Ask its provider for the limit.",
  InvalidResponse: foreign,
  InvalidHTTPResponse: foreign,
  Malformed_HTTP_Response: foreign,
  ResponseHeadersTooLarge: foreign,
  // All that a HEAD can show.
  403: "The storage refuses it without saying why (403). Check that the access key may list, get, put and delete.",
  ECONNREFUSED: `Nothing listens at the address of the storage. Check ${variable("ENDPOINT")}, and whether it runs.`,
  ENOTFOUND: `The name of the storage is not known to DNS. Check ${variable("ENDPOINT")} and this machine's DNS.`,
};

const otherRegion = new Set(["400", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"]);
/** Of servers that are busy, and of connections that break. */
const passing = new Set([
  ...["408", "429", "500", "502", "503", "504"],
  "ConnectionClosed",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "FailedToOpenSocket",
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
]);
const ofTls = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|^EPROTO$/;

/** What S3 answers instead of what was asked for. */
export class S3Refusal extends Error {
  readonly code: string;
  /** The bucket's, where the response has it. */
  readonly region: string | null;

  constructor(code: string, region: string | null = null) {
    super(code);
    this.code = code;
    this.region = region;
  }
}

/** A failure of S3, which its requests ask about. */
class S3Failure extends StorageFailure {
  readonly #code: string;

  constructor(sentence: string, code: string) {
    super(sentence, passing.has(code));
    this.#code = code;
  }

  static isOf(failure: unknown, code: string): boolean {
    return failure instanceof S3Failure && failure.#code === code;
  }
}

export const isRefusedWith = S3Failure.isOf;

/** For any error; failures stay as they are. Only the code is shown: texts of servers can hold the key's id. */
export function toStorageFailure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const given = codeOf(error);
  const code = /^\w{1,64}$/.test(given) ? given : "an unknown failure";
  return new S3Failure(sentences[code] ?? explain(code, error instanceof S3Refusal ? error.region : null), code);
}

function explain(code: string, region: string | null): string {
  if (otherRegion.has(code) && (region !== null || code !== "400")) {
    return `The bucket is in another region (${code}). ${adviseRegion(region)}`;
  }
  if (ofTls.test(code)) {
    return (
      `The storage's certificate cannot be trusted, or it does not speak TLS (${code}). Check ${variable("ENDPOINT")}; ` +
      "for an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS."
    );
  }
  if (passing.has(code)) return `The storage did not answer, or broke off (${code}). Try again later.`;
  return `The storage refuses it (${code}). Its documentation explains it.`;
}

/** What answers is none. */
export const noS3 = () => toStorageFailure(new S3Refusal("InvalidResponse"));

/** To `target`, which may be no address. Of it only the origin is named: the rest can hold a signature. */
export function redirectFailure(status: number, target: URL | null, region: string | null): StorageFailure {
  const to = target === null || target.origin === "null" ? "elsewhere" : `to ${target.origin.slice(0, 300)}`;
  const advice =
    region === null
      ? `Set ${variable("ENDPOINT")} to the address of the storage itself, and ${variable("REGION")} to the bucket's region.`
      : `The bucket is in another region. ${adviseRegion(region)}`;
  return new StorageFailure(`The storage redirects (${status}) ${to}: nothing is sent there. ${advice}`, false);
}

function adviseRegion(region: string | null): string {
  const name = region !== null && /^[a-z\d-]{1,40}$/.test(region) ? region : "it";
  return `Set ${variable("REGION")} to ${name}.`;
}

export function lateFailure(limitMs: number): StorageFailure {
  return new StorageFailure(
    `The storage did not answer within ${limitMs / 1000} s. Check the network, and try again later.`,
    true,
  );
}
