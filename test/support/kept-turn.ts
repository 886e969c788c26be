/** Stores turns as the chat settles them, at times that a test chooses. */
import type { Arrivals } from "../../src/contracts/coordination.ts";
import type { SettledTurn } from "../../src/contracts/store/store.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { answered } from "./answered.ts";
import type { TestServer } from "./app.ts";
import { turnMessages } from "./turn-messages.ts";

export interface KeptTurn {
  sessionId?: string;
  visitorId?: string | null;
  message?: string;
  reply?: string;
  atMs?: number;
  inputTokens?: number;
  outputTokens?: number;
  /** What else is settled with it. */
  more?: Partial<SettledTurn>;
}

/** Returns the id of the conversation that the turn started. */
export async function keepTurn(
  {
    services,
  }: { services: Pick<TestServer["services"], "store" | "clock"> & { coordination: { arrivals: Arrivals } } },
  companion: Companion,
  turn: KeptTurn = {},
): Promise<string> {
  const atMs = turn.atMs ?? services.clock.nowMs();
  const { inputTokens = 10, outputTokens = 5 } = turn;
  // A UUIDv7 that sorts by the given time.
  const conversationId = Bun.randomUUIDv7("hex", atMs);
  await services.store.turns.settle({
    events: null,
    accountId: companion.accountId,
    key: {
      companionId: companion.id,
      sessionId: turn.sessionId ?? systemIds.randomUuid(),
      visitorId: turn.visitorId ?? null,
    },
    conversationId,
    messages: turnMessages({
      said: turn.message ?? "Hello",
      answered: turn.reply ?? "Hi there",
      atMs,
      answeredAtMs: atMs + 1,
      inputTokens,
      outputTokens,
    }),
    messageId: null,
    endCode: null,
    isCounted: true,
    visitor: null,
    arrivalMark: services.coordination.arrivals.mark(),
    ticketId: null,
    usage: { inputTokens, outputTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, estimated: false },
    ...answered,
    failure: null,
    keyId: companion.createdByKeyId,
    day: toUtcDay(atMs),
    ...turn.more,
  });
  return conversationId;
}
