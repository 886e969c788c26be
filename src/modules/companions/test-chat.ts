/** The owner tries a companion: the same turn as a visitor's, outside of rate limits and memory; one message of its day. */
import type { Services } from "../../dependencies.ts";
import type { Companion } from "../../domain/companion.ts";
import type { HistoryMessage } from "../../domain/conversation.ts";
import { missing } from "../../domain/resource-id.ts";
import type { CompanionStore } from "../../store/store.ts";
import type { TurnKeeper, TurnResult, TurnRight } from "../../turns/turn-start.ts";
import { type TestChatBody, toWireTrace } from "./model.ts";

/** Disabled or not, it is the owner's to try. */
export function rightToTry(companions: CompanionStore, { accountId, id }: Companion): TurnRight {
  return { check: () => companions.checkOwned(accountId, id), refusal: () => missing("companion") };
}

/** Keeps of a trial what it cost; what was said before comes with each message. */
export class TrialKeeper implements TurnKeeper {
  readonly queueKey = null;
  readonly #store: Services["store"];
  readonly #companion: Companion;
  readonly #body: TestChatBody;
  readonly #comment: (text: string) => void;
  readonly #startedMs = performance.now();

  /** `comment` tells the owner, beside the reply. */
  constructor(store: Services["store"], companion: Companion, body: TestChatBody, comment: (text: string) => void) {
    this.#store = store;
    this.#companion = companion;
    this.#body = body;
    this.#comment = comment;
  }

  begin(): HistoryMessage[] {
    return (this.#body.history ?? []).toReversed();
  }

  async settle(result: TurnResult): Promise<void> {
    const { accountId, id: companionId, createdByKeyId: keyId } = this.#companion;
    const { day, usage, failure } = result;
    await this.#store.turns.settleUnkept({ accountId, companionId, keyId, day, usage, failure });
    if (this.#body.trace !== true) return;
    this.#comment(`trace ${JSON.stringify(toWireTrace(result, performance.now() - this.#startedMs))}`);
  }
}
