/**
 * Slows down password guessers without locking owners out: a client's failures on an account make that client wait, and
 * attempts on one account run one at a time, wherever they come from. A browser that has signed in to the account
 * before goes first, and waits only for its own failures.
 */
import type { SignInFailure, SignInFailures } from "../../contracts/coordination.ts";
import { AppError } from "../../domain/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { type After, afterTimeout, createSpacedQueue } from "../../lib/spaced-queue.ts";

/** Failures of one client on one account without a penalty. */
const freeByClient = 5;

/** Failures of all clients on one account after which strangers wait longer. */
const freeByAccount = 10;
const firstDelayMs = 250;
const maxDelayMs = 4000;
/** Attempts that may wait for one account, for strangers and familiar browsers each. */
const maxWaiting = 4;
const maxAccounts = 50_000;

/** Wrong codes by strangers on one account without a penalty: the sender of a code knows the password. */
const freeCodes = 10;

/** What passes in real time, regardless of the clock. */
export interface SignInPace {
  /** Between two attempts on one account by anyone. */
  shortestGapMs: number;
  /**
   * A refusal takes at least this long from the start of its turn, so that its timing does not reveal whether a password
   * was compared, or what it had to wait for.
   */
  refusalMs: number;
}

/** Five attempts per second. */
const usualPace: SignInPace = { shortestGapMs: 200, refusalMs: 150 };

export interface Client {
  /** What failures are counted by: the client's address, or something that identifies it better. */
  subject: string;
  /** Whether it has already shown that the account is its own. */
  isFamiliar: boolean;
}

export interface Attempt {
  /** Failed attempts on the account in the last hour, from anywhere, including this one. */
  readonly accountFailures: number;
  /** The same for codes of the second factor; throws `rate_limited` while strangers have to wait. */
  guessCode(isRight: () => Promise<boolean>): Promise<boolean>;
}

/** `uncounted`: neither right nor wrong, such as when nothing was compared. */
export type Verdict = "right" | "wrong" | "uncounted";

export interface Outcome<Value> {
  verdict: Verdict;
  value: Value;
}

export interface Attempts {
  /**
   * Runs `attempt` when its turn comes. It counts as failed while it runs, so that concurrent attempts count each
   * other; an attempt that throws does not count. Throws `rate_limited` while the client has to wait, or if too many
   * are waiting for the account; that does not prolong any wait.
   */
  run<Value>(client: Client, email: string, attempt: (attempt: Attempt) => Promise<Outcome<Value>>): Promise<Value>;
}

interface AttemptDependencies {
  failures: SignInFailures;
  clock: Pick<Clock, "monotonicMs">;
  /** Replaced in tests; by default the system's timers. */
  after?: After;
  /** Shorter in tests that prove something else. */
  pace?: SignInPace | undefined;
}

export function createAttempts({
  failures,
  clock,
  after = afterTimeout,
  pace: { shortestGapMs, refusalMs } = usualPace,
}: AttemptDependencies): Attempts {
  const queue = createSpacedQueue({ clock, after, maxWaiting, maxKeys: maxAccounts });

  async function sleep(durationMs: number): Promise<void> {
    if (durationMs > 0) await new Promise<void>((resolve) => void after(durationMs, resolve));
  }

  async function takeTurn({ isFamiliar }: Client, email: string): Promise<() => void> {
    const gapMs = isFamiliar ? shortestGapMs : Math.max(shortestGapMs, delayMs(await failures.count("account", email)));
    const turn = queue.enter(email, { isFavoured: isFamiliar, gapMs });
    if (turn !== null) return await turn;
    throw waitFirst("Too many sign-ins to this account are running.", gapMs * maxWaiting);
  }

  async function guessCode(client: Client, email: string, isRight: () => Promise<boolean>): Promise<boolean> {
    const failure = client.isFamiliar
      ? await failures.add("code", email)
      : await failures.addUnlessWaiting("code", email, freeCodes);
    if ("waitMs" in failure) {
      throw waitFirst("Too many wrong codes for this account. Use a browser you used before.", failure.waitMs);
    }
    let isWrong = false;
    try {
      isWrong = !(await isRight());
    } finally {
      if (!isWrong || client.isFamiliar) failure.takeBack();
    }
    return !isWrong;
  }

  return {
    async run(client, email, attempt) {
      const own = `${client.subject} ${email}`;
      const clientFailure = await failures.addUnlessWaiting("client", own, freeByClient);
      if ("waitMs" in clientFailure)
        throw waitFirst("Too many failed sign-ins from this address.", clientFailure.waitMs);
      let accountFailure: SignInFailure | null = null;
      let verdict: Verdict = "uncounted";
      let leave = () => {};
      try {
        leave = await takeTurn(client, email);
        const startedMs = clock.monotonicMs();
        accountFailure = await failures.add("account", email);
        const outcome = await attempt({
          accountFailures: accountFailure.count,
          guessCode: (isRight) => guessCode(client, email, isRight),
        });
        verdict = outcome.verdict;
        if (verdict === "wrong") await sleep(startedMs + refusalMs - clock.monotonicMs());
        return outcome.value;
      } finally {
        if (verdict === "right") failures.clear("client", own);
        if (verdict === "uncounted") clientFailure.takeBack();
        if (verdict !== "wrong") accountFailure?.takeBack();
        leave();
      }
    },
  };
}

function waitFirst(reason: string, leftMs: number): AppError {
  return new AppError("rate_limited", `${reason} Wait, then try again.`, {
    retryAfterSeconds: Math.ceil(leftMs / 1000),
  });
}

function delayMs(failures: number): number {
  return failures < freeByAccount ? 0 : Math.min(firstDelayMs * 2 ** (failures - freeByAccount), maxDelayMs);
}
