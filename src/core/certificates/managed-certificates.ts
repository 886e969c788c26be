/** Maintains a certificate: decides when one is due, orders it, stores it, and hands it to the listener that serves it. */
import type { ManagedCertificates } from "../../contracts/certificates/certificates.ts";
import type { Certificate } from "../../lib/certificate.ts";
import { unlessAborted } from "../../lib/deadline.ts";
import { afterTimeout } from "../../lib/spaced-queue.ts";
import { type Attempts, arePlausible, findEarliest } from "./attempts.ts";
import type { CertificateOptions } from "./certificate-options.ts";
import { type Inventory, takeInventory } from "./inventory.ts";
import { areFound, attemptOrder, createChallenges } from "./order-attempt.ts";
import { createRenewalAdvice, findDue } from "./renewal.ts";
import { describe } from "./sentences.ts";
import { isForNames, type StoredCertificate } from "./stored-certificate.ts";

/** The clock may be set, and machines sleep: a single timer until the renewal would not notice. */
const checkEveryMs = 60 * 60_000;
/** Of a store that others fill. */
const sharedCheckEveryMs = 60_000;
const impatientCheckEveryMs = 5_000;
/** While a name has no address: a record that was just added need not wait for an hour. */
const missingCheckEveryMs = 2 * 60_000;
const shortestRestMs = 1_000;

/** With what is stored already. Never rejects for a store that cannot be read: then there is no certificate yet. */
export async function openManagedCertificates(options: CertificateOptions): Promise<ManagedCertificates> {
  const { names, directory, store, clock, log, after = afterTimeout, random = Math.random } = options;
  const wanted = { names, authority: directory };
  const challenges = createChallenges(store);
  const stopping = new AbortController();
  const advice = createRenewalAdvice(options, random);
  let inventory: Inventory = { accountKey: null, certificate: null, attempts: null };
  let served: StoredCertificate | null = null;
  let share = random();
  let listener: ((certificate: Certificate) => void) | null = null;
  let unstored: string | null = null;
  let problem: string | null = null;
  let nextMs: number | null = null;
  let timer: Disposable | null = null;
  let checking: Promise<void> | null = null;
  let isAsked = false;
  let hasRead = false;
  let reported: string | null = null;

  /** Takes over what is stored. One that another server obtained counts as well as an own one. */
  async function read(mayTidy: boolean): Promise<void> {
    inventory = await takeInventory({ store, log, mayTidy });
    hasRead = true;
    if (inventory.certificate !== null) serve(inventory.certificate, "certificate loaded");
  }

  function serve(certificate: StoredCertificate, event: string): void {
    if (certificate.cert === served?.cert && certificate.key === served.key) return;
    served = certificate;
    share = random();
    log.info(event, { names: certificate.names, expires: new Date(certificate.expiresAtMs).toISOString() });
    listener?.(certificate);
  }

  /** Attempts for other names, or at another authority, do not count for the next one. */
  function findAttempts(): Attempts | null {
    const { attempts } = inventory;
    if (attempts === null || attempts.authority !== directory || !arePlausible(attempts, clock.nowMs())) return null;
    return isForNames({ names: [...attempts.names].sort() }, names) ? attempts : null;
  }

  function due(): number {
    return findDue(inventory.certificate, { ...wanted, random: share, window: advice.window });
  }

  async function check(): Promise<void> {
    const wasAsked = isAsked;
    isAsked = false;
    await storeAgain();
    if (store.isShared || wasAsked || !hasRead) await read(!store.isShared);
    await advice.refresh(inventory.certificate, stopping.signal);
    if (clock.nowMs() < due()) {
      problem = null;
      nextMs = due();
      return;
    }
    const isOurs = await options.duties.take("certificates");
    // The previous holder of the duty may have obtained one since.
    if (isOurs && store.isShared) await read(true);
    const attempts = findAttempts();
    let earliestMs = attempts === null ? 0 : findEarliest(attempts, wasAsked);
    if (isOurs && attempts?.isMissing && clock.nowMs() < earliestMs) {
      const hasAppeared = await unlessAborted(stopping.signal, areFound(options));
      earliestMs = findEarliest(attempts, wasAsked || hasAppeared);
    }
    problem = clock.nowMs() < due() ? null : (attempts?.problem ?? problem);
    nextMs = Math.max(due(), earliestMs);
    if (clock.nowMs() < nextMs) return reportWaiting();
    nextMs = null;
    if (isOurs) return await order(attempts);
    if (served === null) problem = "Another server of the same database is obtaining the certificate.";
  }

  /** After a restart, too: an operator who has changed a setting checks the log for the result. */
  function reportWaiting(): void {
    if (problem === null || nextMs === null || problem === reported) return;
    reported = problem;
    log.warn("certificate not obtained", { reason: problem, nextAttempt: new Date(nextMs).toISOString() });
  }

  /** Until it is stored, what is stored is older than what is served. */
  async function storeAgain(): Promise<void> {
    if (unstored === null) return;
    await store.write("certificate", unstored);
    await store.remove("attempts");
    unstored = null;
  }

  async function order(attempts: Attempts | null): Promise<void> {
    const ended = await attemptOrder(
      options,
      { attempts, accountKey: inventory.accountKey, challenges, random },
      stopping.signal,
    );
    if (ended === null) return;
    problem = ended.problem;
    reported = problem;
    nextMs = ended.nextMs;
    inventory = { ...inventory, accountKey: ended.accountKey, attempts: ended.attempts };
    if (ended.certificate === null) return;
    unstored = ended.unstored;
    inventory = { ...inventory, certificate: ended.certificate };
    serve(ended.certificate, "certificate obtained");
    nextMs = unstored === null ? due() : clock.nowMs() + sharedCheckEveryMs;
  }

  function note(sentence: string, error: unknown): void {
    if (problem !== sentence) log.warn("certificate check failed", { error });
    problem = sentence;
    nextMs = clock.nowMs() + sharedCheckEveryMs;
  }

  async function checkAndRest(): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (!stopping.signal.aborted) note(`The certificate could not be checked: ${describe(error)}.`, error);
    }
    checking = null;
    if (isAsked) return wake();
    if (!stopping.signal.aborted) timer = after(findRestMs(), wake);
  }

  function findRestMs(): number {
    const ownEveryMs = findAttempts()?.isMissing ? missingCheckEveryMs : checkEveryMs;
    const everyMs = store.isShared ? (served === null ? impatientCheckEveryMs : sharedCheckEveryMs) : ownEveryMs;
    return nextMs === null ? everyMs : Math.min(everyMs, Math.max(shortestRestMs, nextMs - clock.nowMs()));
  }

  /** One check at a time; one requested meanwhile begins when it has ended. */
  function wake(): void {
    timer?.[Symbol.dispose]();
    if (checking === null && !stopping.signal.aborted) checking = checkAndRest();
  }

  try {
    await read(!store.isShared);
  } catch (error) {
    note(`The stored certificate cannot be read: ${describe(error)}.`, error);
  }

  return {
    get current() {
      return served;
    },
    onChange(next) {
      listener = next;
    },
    findChallenge: (token) => challenges.find(token).catch(() => null),
    get state() {
      return { domains: names, expiresAtMs: served?.expiresAtMs ?? null, nextAttemptAtMs: nextMs, problem };
    },
    start: wake,
    lookAgain() {
      isAsked = true;
      wake();
    },
    async stop() {
      stopping.abort(new Error("the server stops"));
      timer?.[Symbol.dispose]();
      await checking;
    },
  };
}
