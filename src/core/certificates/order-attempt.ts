/** One attempt to obtain a certificate, from the check of the names to the certificate store. */
import { AuthorityFailure } from "../../contracts/certificates/authority.ts";
import type { CertificateStore } from "../../contracts/certificates/certificate-store.ts";
import { unlessAborted } from "../../lib/deadline.ts";
import { createSharedRun } from "../../lib/shared-run.ts";
import { type Attempts, addFailure } from "./attempts.ts";
import type { CertificateOptions } from "./certificate-options.ts";
import type { NameFinding } from "./name-check.ts";
import { describe, explainFailure } from "./sentences.ts";
import { formatCertificate, isForNames, readStoredCertificate, type StoredCertificate } from "./stored-certificate.ts";

interface AttemptState {
  attempts: Attempts | null;
  accountKey: string | null;
  challenges: Challenges;
  random: () => number;
}

export interface EndedAttempt {
  readonly certificate: StoredCertificate | null;
  readonly accountKey: string | null;
  readonly attempts: Attempts | null;
  readonly problem: string | null;
  /** When to try again; null after a success. */
  readonly nextMs: number | null;
  /** The certificate's text if it could not be stored; null if it was, or if there is none. */
  readonly unstored: string | null;
}

const unfinished = "The last attempt was cut short.";
/** Where the authority names no time. */
const limitedMs = 60 * 60_000;

/** Null if the server stops meanwhile: then it is as if nothing had been tried. Rejects if the store fails. */
export async function attemptOrder(
  options: CertificateOptions,
  state: AttemptState,
  signal: AbortSignal,
): Promise<EndedAttempt | null> {
  const { names, email, directory, authority, store, clock, log, count } = options;
  const { attempts, challenges, random } = state;
  let { accountKey } = state;
  const wanted = { authority: directory, names };
  try {
    await challenges.clear();
    // Beside the order, which need not wait: its findings only add to what an authority reports of a failure.
    const checking = checkNames(options, challenges).catch(() => []);
    if (accountKey === null) {
      accountKey = await authority.makeAccountKey();
      await store.write("account", accountKey);
    }
    const fail = (problem: string, retryAfterMs: number | null, isMissing: boolean) =>
      addFailure(attempts, wanted, { nowMs: clock.nowMs(), random: random(), problem, retryAfterMs, isMissing });
    // Before anything is asked: a server that crashes over and over must not ask each time.
    await store.write("attempts", JSON.stringify(fail(unfinished, null, false)));
    try {
      const putChallenge = (token: string, answer: string) => challenges.put(token, answer);
      const issued = await authority.order({ names, accountKey, email, putChallenge }, signal);
      const text = formatCertificate(issued, { authority: directory, obtainedAtMs: clock.nowMs() });
      return await keep(text, readIssued(text, names));
    } catch (error) {
      if (signal.aborted) {
        await forgive();
        return null;
      }
      const seen = await unlessAborted(signal, checking);
      const findings = seen.map(({ sentence }) => sentence);
      const problem = explainFailure(error, { directory, nowMs: clock.nowMs(), findings });
      const isMissing = seen.some((finding) => finding.isMissing);
      const failed = fail(problem, findRest(error), isMissing);
      await store.write("attempts", JSON.stringify(failed));
      count("failed");
      log.warn("certificate not obtained", { reason: problem, nextAttempt: new Date(failed.nextMs).toISOString() });
      return { certificate: null, accountKey, attempts: failed, problem, nextMs: failed.nextMs, unstored: null };
    }
  } finally {
    await challenges.clear();
  }

  async function keep(text: string, certificate: StoredCertificate): Promise<EndedAttempt> {
    count("obtained");
    try {
      await store.write("certificate", text);
      await store.remove("attempts");
      return { certificate, accountKey, attempts: null, problem: null, nextMs: null, unstored: null };
    } catch (error) {
      const problem = `The certificate is served, but could not be stored: ${describe(error)}.`;
      log.error("certificate not stored", { error });
      return { certificate, accountKey, attempts, problem, nextMs: null, unstored: text };
    }
  }

  async function forgive(): Promise<void> {
    const before = attempts === null ? store.remove("attempts") : store.write("attempts", JSON.stringify(attempts));
    await before.catch(() => {});
  }
}

/** All names at the same time, each with the distinct answer that it must lead to. */
async function checkNames({ names, checkName }: CertificateOptions, challenges: Challenges): Promise<NameFinding[]> {
  const findings = await Promise.all(
    names.map(async (name) => {
      const [token, answer] = [crypto.randomUUID(), crypto.randomUUID()];
      await challenges.put(token, answer);
      return await checkName(name, { token, answer });
    }),
  );
  return findings.filter((finding) => finding !== null);
}

/** Whether each name has an address now. Never rejects. */
export async function areFound({
  names,
  checkName,
}: Pick<CertificateOptions, "names" | "checkName">): Promise<boolean> {
  const probe = () => ({ token: crypto.randomUUID(), answer: crypto.randomUUID() });
  const findings = await Promise.all(names.map((name) => checkName(name, probe())));
  return findings.every((finding) => !finding?.isMissing);
}

function findRest(error: unknown): number | null {
  if (!(error instanceof AuthorityFailure)) return null;
  return error.retryAfterMs ?? (error.kind === "limited" ? limitedMs : null);
}

/** Throws for a certificate that would be due immediately, again and again. */
function readIssued(text: string, names: readonly string[]): StoredCertificate {
  const certificate = readStoredCertificate(text);
  if (isForNames(certificate, names)) return certificate;
  throw new Error(`the authority issued a certificate for ${certificate.names.join(", ") || "no name"} instead`);
}

interface Challenges {
  put(token: string, answer: string): Promise<void>;
  find(token: string): Promise<string | null>;
  /** Once the order has ended. Never rejects: leftovers do no harm, and go with the next order. */
  clear(): Promise<void>;
}

const tokenShape = /^[\w-]{20,256}$/;
/** Anyone may request any token; the store is asked for all of them together, and this often at most. */
const gapMs = 50;

/** The answers that an authority waits for: of this server's order, or of another's with the same database. */
export function createChallenges(store: CertificateStore): Challenges {
  const own = new Map<string, string>();
  let ofOthers: ReadonlyMap<string, string> = new Map();
  const readOthers = createSharedRun(async () => {
    await Bun.sleep(gapMs);
    ofOthers = await store.listChallenges();
  });

  return {
    async put(token, answer) {
      await store.putChallenge(token, answer);
      own.set(token, answer);
    },
    async find(token) {
      if (!tokenShape.test(token)) return null;
      const answer = own.get(token);
      if (answer !== undefined || !store.isShared) return answer ?? null;
      await readOthers();
      return ofOthers.get(token) ?? null;
    },
    async clear() {
      own.clear();
      await store.clearChallenges().catch(() => {});
    },
  };
}
