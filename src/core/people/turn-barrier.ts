/** Waits for the reply that was under way when someone took its conversation, in the conversation's own queue. */
import type { TurnTicket } from "../../contracts/coordination.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { Services } from "../dependencies.ts";
import { queueKeyOf } from "../turns/conversation-storage.ts";

/** The state is committed: a take answers even where a cut-off instance still replies. */
export const barrierMs = 15_000;
/** Whether a reply is under way: longer than the queue takes to answer, and short enough to wait for. */
const probeMs = 250;
const fullPauseMs = 100;

type BarrierServices = Pick<Services, "coordination">;

/** Resolves once no turn that had begun before runs any more, or after `barrierMs`. Never rejects. */
export async function waitForTurn(services: BarrierServices, key: ConversationKey): Promise<void> {
  const patience = AbortSignal.timeout(barrierMs);
  while (!patience.aborted) {
    try {
      const ticket = await enter(services, key, patience);
      if (ticket !== null) return ticket.leave();
    } catch {
      // Its time is over, or the instances cannot agree: the turn under way ends by the state, which it reads itself.
      return;
    }
    await Bun.sleep(fullPauseMs);
  }
}

/** Does it while no turn runs and none can begin. Null, and nothing is done, if one is under way. */
export async function ifQuiet<Result>(
  services: BarrierServices,
  key: ConversationKey,
  work: () => Promise<Result>,
): Promise<{ result: Result } | null> {
  const patience = AbortSignal.timeout(probeMs);
  const ticket = await enter(services, key, patience).catch((error: unknown) => {
    if (patience.aborted) return null;
    throw error;
  });
  if (ticket === null) return null;
  try {
    return { result: await work() };
  } finally {
    ticket.leave();
  }
}

/** Null if too many are waiting. Rejects with the signal's reason, and as coordination does. */
async function enter({ coordination }: BarrierServices, key: ConversationKey, patience: AbortSignal) {
  const noMessage = { messagesPerDay: null, visitor: null, messageId: null };
  const entry = { companionId: key.companionId, queueKey: queueKeyOf(key), ...noMessage };
  const verdict = await coordination.turns.enter(entry, patience);
  return verdict.isAdmitted ? (verdict as TurnTicket) : null;
}
