/** What S3 and the way to it can refuse, as sentences for whoever set it up. */
import { codeOf } from "../lib/error-code.ts";
import { StorageFailure } from "./storage.ts";

const variable = (name: string) => `COMPANIOND_BACKUP_S3_${name}`;

/** By S3's code, or that of Bun's client. */
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
  InvalidResponse: `What answers does not speak S3. Check ${variable("ENDPOINT")}.`,
  DNSResolveFailed: `The name of the storage is not known to DNS. Check ${variable("ENDPOINT")} and this machine's DNS.`,
  ConnectionRefused: `Nothing listens at the address of the storage. Check ${variable("ENDPOINT")}, and whether it runs.`,
  // What comes without a body: all that a HEAD can say.
  UnknownError:
    "The storage refused it, or broke off, without saying why. Check that the access key may list, get, put and delete, " +
    "and try again later.",
  ENOTFOUND: `The name of the storage is not known to DNS. Check ${variable("ENDPOINT")} and this machine's DNS.`,
};

const otherRegion = new Set([
  "PermanentRedirect",
  "TemporaryRedirect",
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
]);
/** Of servers that are busy, and of connections that break. */
const passing = new Set([
  "ConnectionClosed",
  "ConnectionReset",
  "ECONNRESET",
  "ECONNREFUSED",
  "ConnectionRefused",
  "ConnectionTimeout",
  "DNSResolveFailed",
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "SocketClosed",
  "Timeout",
  "UnexpectedEOF",
  "UnknownError",
]);
const ofTls = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Whatever was thrown; failures stay as they are. Only the code is told: texts of servers can hold the key's id. */
export function toStorageFailure(error: unknown): StorageFailure {
  if (error instanceof StorageFailure) return error;
  const told = codeOf(error);
  const code = /^\w{1,64}$/.test(told) ? told : "an unknown failure";
  const sentence = sentences[code];
  if (sentence !== undefined) return new StorageFailure(sentence, passing.has(code));
  if (otherRegion.has(code)) {
    return new StorageFailure(`The bucket is in another region (${code}). Set ${variable("REGION")} to it.`, false);
  }
  if (ofTls.test(code)) {
    return new StorageFailure(
      `The storage's certificate cannot be trusted, or it does not speak TLS (${code}). Check ${variable("ENDPOINT")}; ` +
        "for an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS.",
      false,
    );
  }
  if (passing.has(code)) {
    return new StorageFailure(`The storage did not answer, or broke off (${code}). Try again later.`, true);
  }
  return new StorageFailure(`The storage refuses it (${code}). Its documentation says what that means.`, false);
}

export function lateFailure(limitMs: number): StorageFailure {
  return new StorageFailure(
    `The storage did not answer within ${limitMs / 1000} s. Check the network, and try again later.`,
    true,
  );
}
