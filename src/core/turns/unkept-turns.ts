/** Keeps nothing of a turn but what it cost, for callers who keep the conversation themselves. */
import type { ReachedBudget, Store } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import type { HistoryMessage } from "../../domain/conversation.ts";
import type { TurnResult, TurnStorage } from "./turn-start.ts";

export class UnkeptTurns implements TurnStorage {
  readonly queueKey = null;
  /** Null until what it cost is stored. */
  result: TurnResult | null = null;

  /** `history`: newest first. `noteStored` is called before the readers learn of the end. */
  constructor(
    private readonly store: Pick<Store, "turns">,
    private readonly companion: Companion,
    private readonly history: readonly HistoryMessage[] = [],
    private readonly noteStored: (result: TurnResult) => void = () => {},
    /** As in `TurnStart`. */
    private readonly isOutsideDay = false,
  ) {}

  async begin(): Promise<readonly HistoryMessage[]> {
    return this.history;
  }

  async settle(result: TurnResult): Promise<readonly ReachedBudget[]> {
    const { accountId, id: companionId } = this.companion;
    // Not what was said, which the store must never see.
    const { answeredBy, cost, day, failure, keyId, spend, ticketId, usage } = result;
    const counted = { answeredBy, cost, day, failure, keyId, spend, ticketId, usage };
    const isCounted = result.isCounted && !this.isOutsideDay;
    const reached = await this.store.turns.settleUnkept({ ...counted, isCounted, accountId, companionId });
    this.result = result;
    this.noteStored(result);
    return reached;
  }
}
