/**
 * The owner's test chat: the same turn as a visitor's, without rate limits or memory; it uses one message of the quota.
 */
import type { ReachedBudget, Store } from "../../contracts/store/store.ts";
import type { TurnKeeper, TurnResult } from "../../core/turns/turn-start.ts";
import type { Companion } from "../../domain/companion.ts";
import { type HistoryMessage, textParts } from "../../domain/conversation.ts";
import { type TestChatBody, toWireTrace } from "./model.ts";

/** Stores only what a test chat cost; earlier messages come with each request. */
export class TrialKeeper implements TurnKeeper {
  readonly queueKey = null;
  readonly #startedMs = performance.now();

  /** `comment` sends the owner a comment line beside the reply. */
  constructor(
    private readonly store: Store,
    private readonly companion: Companion,
    private readonly body: TestChatBody,
    private readonly comment: (text: string) => void,
  ) {}

  async begin(): Promise<HistoryMessage[]> {
    return (this.body.history ?? []).map(({ role, text }) => ({ role, parts: textParts(text) })).reverse();
  }

  async settle(result: TurnResult): Promise<readonly ReachedBudget[]> {
    const { accountId, id: companionId } = this.companion;
    const { keyId, day, ticketId, usage, answeredBy, cost, spend, failure, isCounted } = result;
    const counted = { isCounted, usage, answeredBy, cost, spend, failure };
    const reached = await this.store.turns.settleUnkept({ ticketId, accountId, companionId, keyId, day, ...counted });
    if (this.body.trace === true && isCounted) {
      this.comment(`trace ${JSON.stringify(toWireTrace(result, performance.now() - this.#startedMs))}`);
    }
    return reached;
  }
}
