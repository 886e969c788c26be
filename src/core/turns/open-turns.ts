/** All running turns: limits them per address, and stops those whose right to run has been revoked. */
import { AppError } from "../../domain/errors.ts";

/** What is needed of a turn here, or of a stream of a turn that began with another right. */
export interface OpenTurn {
  /** The store's change mark when the turn's right was last confirmed. */
  checkedMark: number;
  /** Whether it is ending already. */
  readonly isStopped: boolean;
  /** Never rejects. */
  readonly ended: Promise<void>;
  /** If the turn has lost its right to run, stops it and resolves with false. Rejects if the store is unavailable. */
  checkRight(): Promise<boolean>;
}

export interface OpenTurns {
  /**
   * The limit counts by `address`; null means no limit. Throws `rate_limited` if the address has reached it: then it has
   * not entered.
   */
  enter(turn: OpenTurn, address: string | null): void;
  /** Call it once for each that has entered, with the same address. */
  leave(turn: OpenTurn, address: string | null): void;
  /** A right ends then on its own, without a change in the store: all are checked again. */
  expectEnd(atMs: number): void;
  /** Running turns, including those waiting in a queue. */
  readonly size: number;
  /** Addresses with running turns. */
  readonly addressCount: number;
  /** Resolves when all turns running now have ended and been stored. */
  whenEnded(): Promise<void>;
  stop(): void;
}

export interface OpenTurnsOptions {
  perAddress: number;
  /** See `CompanionStore`. */
  getChangeMark(): Promise<number>;
  nowMs?(): number;
  /** Twice a second, so that a turn that must end does so within a second. */
  lookEveryMs?: number | undefined;
}

/**
 * Checks beside each other, before other work gets a chance: a store on the network asks once for all of them, and one
 * in this process takes a millisecond or two.
 */
const checksTogether = 250;

export function createOpenTurns(options: OpenTurnsOptions): OpenTurns {
  const { perAddress, getChangeMark, nowMs = Date.now, lookEveryMs = 500 } = options;
  const turns = new Set<OpenTurn>();
  const countByAddress = new Map<string, number>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let isChecking = false;
  let nextEndMs = Number.POSITIVE_INFINITY;

  /** Another process can revoke as well without notifying this one, so the store's own change mark is read. */
  async function checkAll(): Promise<void> {
    const mark = await getChangeMark();
    if (nowMs() >= nextEndMs) {
      // Those that go on announce their own end again.
      nextEndMs = Number.POSITIVE_INFINITY;
      for (const turn of turns) turn.checkedMark = -1;
    }
    const unchecked = [...turns].filter((turn) => turn.checkedMark !== mark);
    for (let at = 0; at < unchecked.length; at += checksTogether) {
      const checks = unchecked.slice(at, at + checksTogether).map((turn) => check(turn, mark));
      const outcomes = await Promise.allSettled(checks);
      if (outcomes.some(({ status }) => status === "rejected")) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** A turn whose check fails keeps its old mark, so the next round checks it again. */
  async function check(turn: OpenTurn, mark: number): Promise<void> {
    if (!turn.isStopped && (await turn.checkRight())) turn.checkedMark = mark;
  }

  async function checkAgain(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      await checkAll();
    } catch {
      // The store is unavailable at the moment, and counts that itself: no reason to end a turn.
    } finally {
      isChecking = false;
    }
  }

  function takeSlot(address: string): void {
    const count = countByAddress.get(address) ?? 0;
    if (count >= perAddress) {
      throw new AppError("rate_limited", "This address has too many replies under way. Wait for one to end.", {
        retryAfterSeconds: 1,
      });
    }
    countByAddress.set(address, count + 1);
  }

  function releaseSlot(address: string): void {
    const left = (countByAddress.get(address) ?? 1) - 1;
    if (left === 0) countByAddress.delete(address);
    else countByAddress.set(address, left);
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    enter(turn, address) {
      if (address !== null) takeSlot(address);
      turns.add(turn);
      timer ??= setInterval(checkAgain, lookEveryMs);
    },
    leave(turn, address) {
      if (address !== null) releaseSlot(address);
      turns.delete(turn);
      if (turns.size === 0) stop();
    },
    expectEnd(atMs) {
      nextEndMs = Math.min(nextEndMs, atMs);
    },
    get size() {
      return turns.size;
    },
    get addressCount() {
      return countByAddress.size;
    },
    async whenEnded() {
      await Promise.all(Array.from(turns, ({ ended }) => ended));
    },
    stop,
  };
}
