/** Turns whose question had no answer and whose model saw a passage, for tests of storage engines. */
import type { SettledTurn } from "../../src/contracts/store/store.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { StoreWorld } from "./store-world.ts";

/** Stores both of a new visitor's turn. */
export async function settleNotedTurn(world: StoreWorld, companion: Companion): Promise<SettledTurn> {
  const { turns, unanswered } = world.store;
  const key = { companionId: companion.id, sessionId: systemIds.randomUuid(), visitorId: systemIds.randomUuid() };
  const turn = world.turnOf(companion, { key });
  await turns.settle(turn);
  const [asked = "", replied = ""] = turn.messages.map(({ id }) => id);
  await unanswered.note({
    key,
    unanswered: { messageId: asked, groupId: systemIds.randomUuid() },
    seen: { messageId: replied, passages: [{ n: 1, edition: 1, ordinal: 0, isCited: true }] },
  });
  return turn;
}
