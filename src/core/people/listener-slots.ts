/** How many may listen at the same time: of an address, and at this instance. */
import { AppError } from "../../domain/errors.ts";
import type { LiveSlot } from "./live.ts";

export interface SlotLimits {
  readonly perAddress: number;
  readonly maxStreams: number;
}

const retryAfterSeconds = 5;

export class ListenerSlots {
  readonly #limits: SlotLimits;
  readonly #countByAddress = new Map<string, number>();
  size = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** As `LiveHub.takeSlot`. */
  take(address: string | null): LiveSlot {
    const count = address === null ? 0 : (this.#countByAddress.get(address) ?? 0);
    if (count >= this.#limits.perAddress) {
      const sentence = "This address has too many open streams of this kind. Wait for one to end.";
      throw new AppError("rate_limited", sentence, { retryAfterSeconds });
    }
    if (this.size >= this.#limits.maxStreams) {
      throw new AppError("unavailable", "The server has too many listeners. Try again later.", { retryAfterSeconds });
    }
    this.size++;
    if (address !== null) this.#countByAddress.set(address, count + 1);
    let isOpen = true;
    return {
      release: () => {
        if (isOpen) this.#leave(address);
        isOpen = false;
      },
    };
  }

  #leave(address: string | null): void {
    this.size--;
    if (address === null) return;
    const left = (this.#countByAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#countByAddress.delete(address);
    else this.#countByAddress.set(address, left);
  }
}
