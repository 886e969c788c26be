/** A budget for large bodies: few at the same time, few bytes in memory, and none for long. */
import { AppError } from "../domain/errors.ts";
import { GatheredBytes } from "../lib/gathered-bytes.ts";
import { Slices } from "../lib/pause.ts";
import { type BudgetShare, SharedBudget } from "../lib/shared-budget.ts";
import { readPieces } from "./body-pieces.ts";

export interface BodyBudgetLimits {
  /** What a sender is, for the sentence of a refusal. */
  readonly sender: "address" | "account";
  /** Bodies being read, in total and per sender. */
  readonly bodies: number;
  readonly bodiesOfOne: number;
  /** Bytes held for these bodies. */
  readonly bytes: number;
  readonly bytesOfOne: number;
  /** For one body. */
  readonly bodyBytes: number;
  readonly bodyMs: number;
}

export interface BodyBudget {
  /**
   * Reads the request's body and passes it to `use`, whose result or error is the outcome. The bytes count until `use`
   * has finished with them. `see` gets each piece as it arrives.
   *
   * Throws `payload_too_large`, `rate_limited` with a time to wait if there is no room, and `invalid_request` if the
   * body takes too long.
   */
  read<Result>(request: Request, sender: string, reading: BodyReading<Result>): Promise<Result>;
  /** The same for a body that is used for longer: it counts until `release`, which may be called more than once. */
  take(request: Request, sender: string, see?: (piece: Uint8Array) => void): Promise<HeldBody>;
  /** Bytes held now; never above the limit. */
  readonly heldBytes: number;
}

export interface HeldBody {
  readonly pieces: readonly Uint8Array[];
  release(): void;
}

export interface BodyReading<Result> {
  see(piece: Uint8Array): void;
  use(pieces: readonly Uint8Array[]): Result;
}

const waitSeconds = 10;

export function createBodyBudget(limits: BodyBudgetLimits): BodyBudget {
  const slots = new SharedBudget({ total: limits.bodies, ofOne: limits.bodiesOfOne });
  const memory = new SharedBudget({ total: limits.bytes, ofOne: limits.bytesOfOne });
  /** Of all bodies together: what many fast senders have sent meanwhile would be copied in one go. */
  const slices = new Slices();

  function grow(share: BudgetShare, amount: number): void {
    if (share.growTo(amount)) return;
    if (share.isWithinOwner(amount)) throw crowded("Too much is being sent to this server at the same time.");
    throw crowded(`This ${limits.sender} sends too much at the same time.`);
  }

  async function take(request: Request, sender: string, see?: (piece: Uint8Array) => void): Promise<HeldBody> {
    if (Number(request.headers.get("content-length")) > limits.bodyBytes) throw tooLarge(limits);
    const [slot, bytes] = [slots.open(sender), memory.open(sender)];
    grow(slot, 1);
    const body = new GatheredBytes();
    // Without the body: a caller that has processed the pieces need not keep them.
    const release = () => {
      slot.release();
      bytes.release();
    };
    try {
      for await (const piece of readPieces(request, limits.bodyMs)) {
        if (bytes.held + piece.length > limits.bodyBytes) throw tooLarge(limits);
        grow(bytes, bytes.held + piece.length);
        body.add(piece);
        see?.(piece);
        if (slices.isOver) await slices.pause();
      }
      return { pieces: body.blocks, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    take,
    async read(request, sender, { see, use }) {
      const { pieces, release } = await take(request, sender, see);
      try {
        return use(pieces);
      } finally {
        release();
      }
    },
    get heldBytes() {
      return memory.held;
    },
  };
}

function crowded(reason: string): AppError {
  return new AppError("rate_limited", `${reason} Try again in ${waitSeconds} seconds.`, {
    retryAfterSeconds: waitSeconds,
  });
}

function tooLarge({ bodyBytes }: BodyBudgetLimits): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${bodyBytes / 1024} KiB.`);
}
