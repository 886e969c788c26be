/**
 * Which erasures a message came before: the newest snapshot that this server knows. Each embed request reads its token
 * and its snapshot along with it; so the mark costs nothing, is never older than the request, and needs no
 * clock.
 */
import type { Arrivals } from "../../contracts/coordination.ts";

export interface ArrivalMarks extends Arrivals {
  /** The latest snapshot, as `pg_snapshot`. */
  mark(): string;
  /** Call it before a query that selects `pg_current_snapshot()::text`; call the result with what that gave. */
  begin(): (snapshot: string) => void;
}

/** `first`: the snapshot from when the store was opened. */
export function createArrivalMarks(first: string): ArrivalMarks {
  let latest = first;
  let latestNumber = 0;
  let begun = 0;
  return {
    mark: () => latest,
    begin() {
      const number = ++begun;
      return (snapshot) => {
        // Answers may arrive in another order than the questions were asked in.
        if (number < latestNumber) return;
        latestNumber = number;
        latest = snapshot;
      };
    },
  };
}

/** Whether PostgreSQL can read it as a snapshot: `oldest:next:running,running,…`, in ascending order. */
export function isArrivalMark(mark: string): boolean {
  const [, oldest, next, running] = /^(\d{1,19}):(\d{1,19}):((?:\d{1,19},)*\d{1,19})?$/.exec(mark) ?? [];
  if (oldest === undefined || next === undefined) return false;
  const numbers = [oldest, ...(running?.split(",") ?? []), next].map(BigInt);
  const isSorted = numbers.every((number, at) => number >= (numbers[at - 1] ?? 1n));
  return isSorted && (running === undefined || numbers.at(-2) !== numbers.at(-1));
}
