/**
 * The owner tries a companion: the same turn as a visitor's, outside of rate limits and memory; one message of its day.
 */
import type { Companion } from "../../domain/companion.ts";
import { type HistoryMessage, textParts } from "../../domain/conversation.ts";
import { missing } from "../../domain/resource-id.ts";
import type { CompanionStore, Store } from "../../store/store.ts";
import type { TurnKeeper, TurnResult, TurnRight } from "../../turns/turn-start.ts";
import { type TestChatBody, toWireTrace } from "./model.ts";

/** Disabled or not, it is the owner's to try. */
export function rightToTry(companions: CompanionStore, { accountId, id }: Companion): TurnRight {
  return { check: () => companions.checkOwned(accountId, id), refusal: () => missing("companion") };
}

/** Keeps of a trial what it cost; what was said before comes with each message. */
export class TrialKeeper implements TurnKeeper {
  readonly queueKey = null;
  readonly #startedMs = performance.now();

  /** `comment` tells the owner, beside the reply. */
  constructor(
    private readonly store: Store,
    private readonly companion: Companion,
    private readonly body: TestChatBody,
    private readonly comment: (text: string) => void,
  ) {}

  async begin(): Promise<HistoryMessage[]> {
    return (this.body.history ?? []).map(({ role, text }) => ({ role, parts: textParts(text) })).reverse();
  }

  async settle(result: TurnResult): Promise<void> {
    const { accountId, id: companionId, createdByKeyId: keyId } = this.companion;
    const { day, usage, failure } = result;
    await this.store.turns.settleUnkept({ accountId, companionId, keyId, day, usage, failure });
    if (this.body.trace !== true) return;
    this.comment(`trace ${JSON.stringify(toWireTrace(result, performance.now() - this.#startedMs))}`);
  }
}
