/** All replies under way: how many an address may have, and whether what each was begun with still holds. */
import { AppError } from "../domain/errors.ts";
import { OpenReply, type ReplyRight } from "./open-reply.ts";

export interface ReplyStart {
  /** Fires when the visitor has gone. */
  visitor: AbortSignal;
  /** What the limit by address counts; null where there is none. */
  address: string | null;
  right: ReplyRight;
}

export interface OpenReplies {
  /** Throws `rate_limited` where the address has as many as it may. The reply must be closed in the end. */
  open(start: ReplyStart): OpenReply;
  /** Under way, those that wait for their turn included. */
  readonly size: number;
  /** Addresses that have some. */
  readonly addressCount: number;
  stop(): void;
}

export interface OpenRepliesOptions {
  perAddress: number;
  /** See `CompanionStore`. */
  getChangeMark(): Promise<number>;
  /** Twice a second, so that a reply that must end has ended within one. */
  lookEveryMs?: number;
}

/** Lookups between two of which other work may be done. */
const lookupsAtOnce = 100;

export function createOpenReplies({ perAddress, getChangeMark, lookEveryMs = 500 }: OpenRepliesOptions): OpenReplies {
  const replies = new Set<OpenReply>();
  const countByAddress = new Map<string, number>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let isLooking = false;

  /** Another process can revoke as well, and tells nobody: the store's own mark is asked. */
  async function look(): Promise<void> {
    const mark = await getChangeMark();
    let lookups = 0;
    for (const reply of replies) {
      if (reply.checkedMark === mark || reply.signal.aborted) continue;
      if (await reply.check()) reply.checkedMark = mark;
      if (++lookups % lookupsAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function lookAgain(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } catch {
      // The store cannot be asked for the moment, which it counts itself: nobody's reply ends for that.
    } finally {
      isLooking = false;
    }
  }

  function takePlace(address: string): () => void {
    const count = countByAddress.get(address) ?? 0;
    if (count >= perAddress) {
      throw new AppError("rate_limited", "This address has too many replies under way. Wait for one to end.", {
        retryAfterSeconds: 1,
      });
    }
    countByAddress.set(address, count + 1);
    return () => {
      const left = (countByAddress.get(address) ?? 1) - 1;
      if (left === 0) countByAddress.delete(address);
      else countByAddress.set(address, left);
    };
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    open({ visitor, address, right }) {
      const leavePlace = address === null ? null : takePlace(address);
      const reply = new OpenReply(visitor, right);
      if (leavePlace !== null) reply.owes(leavePlace);
      reply.owes(() => {
        replies.delete(reply);
        if (replies.size === 0) stop();
      });
      replies.add(reply);
      timer ??= setInterval(lookAgain, lookEveryMs);
      return reply;
    },
    get size() {
      return replies.size;
    },
    get addressCount() {
      return countByAddress.size;
    },
    stop,
  };
}
