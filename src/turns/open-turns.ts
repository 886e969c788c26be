/** All turns under way: how many an address may have, and whether what each was begun with still holds. */
import { AppError } from "../domain/errors.ts";

/** A turn, as far as this goes. */
export interface OpenTurn {
  /** The store's change mark when the turn's right was last found to hold. */
  checkedMark: number;
  /** Whether it is on its way out already. */
  readonly isStopped: boolean;
  /** Never rejects. */
  readonly ended: Promise<void>;
  /** False, and the turn stops, where it has lost its right to go on. Rejects where the store cannot be asked. */
  checkRight(): Promise<boolean>;
}

export interface OpenTurns {
  /**
   * Returns the function that takes it out again, to be called once. `address` is what the limit counts, null where
   * there is none. Throws `rate_limited` where the address has as many as it may.
   */
  enter(turn: OpenTurn, address: string | null): () => void;
  /** Under way, those that wait for their place included. */
  readonly size: number;
  /** Addresses that have some. */
  readonly addressCount: number;
  /** Resolves when all that are under way now have ended and are kept. */
  whenEnded(): Promise<void>;
  stop(): void;
}

export interface OpenTurnsOptions {
  perAddress: number;
  /** See `CompanionStore`. */
  getChangeMark(): Promise<number>;
  /** Twice a second, so that a turn that must end has ended within one. */
  lookEveryMs?: number;
}

/** Lookups between two of which other work may be done. */
const lookupsAtOnce = 100;

export function createOpenTurns({ perAddress, getChangeMark, lookEveryMs = 500 }: OpenTurnsOptions): OpenTurns {
  const turns = new Set<OpenTurn>();
  const countByAddress = new Map<string, number>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let isLooking = false;

  /** Another process can revoke as well, and tells nobody: the store's own mark is asked. */
  async function look(): Promise<void> {
    const mark = await getChangeMark();
    let lookups = 0;
    for (const turn of turns) {
      if (turn.checkedMark === mark || turn.isStopped) continue;
      if (await turn.checkRight()) turn.checkedMark = mark;
      if (++lookups % lookupsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function lookAgain(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } catch {
      // The store cannot be asked for the moment, which it counts itself: nobody's turn ends for that.
    } finally {
      isLooking = false;
    }
  }

  function takePlace(address: string): void {
    const count = countByAddress.get(address) ?? 0;
    if (count >= perAddress) {
      throw new AppError("rate_limited", "This address has too many replies under way. Wait for one to end.", {
        retryAfterSeconds: 1,
      });
    }
    countByAddress.set(address, count + 1);
  }

  function leavePlace(address: string): void {
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
      if (address !== null) takePlace(address);
      turns.add(turn);
      timer ??= setInterval(lookAgain, lookEveryMs);
      return () => {
        if (address !== null) leavePlace(address);
        turns.delete(turn);
        if (turns.size === 0) stop();
      };
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
