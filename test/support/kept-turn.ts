/** Stores turns as the chat settles them, at times that a test chooses. */
import type { Companion } from "../../src/domain/companion.ts";
import { toUtcDay } from "../../src/lib/clock.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { TestServer } from "./app.ts";

export interface KeptTurn {
  sessionId?: string;
  visitorId?: string | null;
  message?: string;
  reply?: string;
  atMs?: number;
  inputTokens?: number;
  outputTokens?: number;
}

/** Returns the id of the conversation that the turn started. */
export async function keepTurn(
  { services }: { services: Pick<TestServer["services"], "store" | "clock"> },
  companion: Companion,
  turn: KeptTurn = {},
): Promise<string> {
  const atMs = turn.atMs ?? services.clock.nowMs();
  const conversationId = idAt(atMs);
  await services.store.turns.settle({
    accountId: companion.accountId,
    key: {
      companionId: companion.id,
      sessionId: turn.sessionId ?? systemIds.randomUuid(),
      visitorId: turn.visitorId ?? null,
    },
    conversationId,
    userMessage: { id: idAt(atMs), text: turn.message ?? "Hello", createdAt: atMs },
    arrivalMark: services.store.turns.markArrival(),
    reply: { id: idAt(atMs + 1), text: turn.reply ?? "Hi there", complete: true, createdAt: atMs + 1 },
    usage: { inputTokens: turn.inputTokens ?? 10, outputTokens: turn.outputTokens ?? 5, estimated: false },
    failure: null,
    keyId: companion.createdByKeyId,
    day: toUtcDay(atMs),
  });
  return conversationId;
}

/** A UUIDv7 that sorts by the given time. */
function idAt(epochMs: number): string {
  return Bun.randomUUIDv7("hex", epochMs);
}
