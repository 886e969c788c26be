/** What a turn leaves in a conversation: the visitor's message, and a reply where there was one. */
import { type Message, textOf, textParts, uncounted } from "../../src/domain/conversation.ts";
import { systemIds } from "../../src/lib/ids.ts";
import type { TestServer } from "./app.ts";

export interface TurnWords {
  said: string;
  /** Null for a visitor who left before the first text. */
  answered: string | null;
  atMs: number;
  /** A tenth of a second later by default. */
  answeredAtMs?: number | undefined;
  complete?: boolean | undefined;
  inputTokens?: number;
  outputTokens?: number;
}

export function turnMessages({ said, answered, atMs, complete = true, ...words }: TurnWords): Message[] {
  const id = systemIds.uuid();
  const text = { channel: "text", complete: true, ...uncounted } as const;
  const question: Message = { ...text, id, role: "user", parts: textParts(said), createdAt: atMs };
  if (answered === null) return [question];
  const { inputTokens = 7, outputTokens = 3, answeredAtMs = atMs + 100 } = words;
  const reply: Message = {
    ...text,
    id: systemIds.uuid(),
    role: "assistant",
    parts: textParts(answered),
    complete,
    inputTokens,
    outputTokens,
    finishReason: complete ? "stop" : "length",
    model: "gpt-test",
    provider: "default",
    createdAt: answeredAtMs,
  };
  return [question, reply];
}

/** The message as the wire shows it: with its words as one text. */
export function withText(message: Message) {
  return { ...message, text: textOf(message) };
}

/** What is kept of the companion's conversations, in the order of the messages. */
export async function keptMessages({ services }: TestServer, companion: { accountId: string; id: string }) {
  const { conversations } = services.store;
  const query = { companionId: companion.id, visitorId: null, fromMs: null, toMs: null, q: null };
  const page = await conversations.list(companion.accountId, query, { limit: 10, afterId: null });
  const found = await Promise.all(page.items.map(({ id }) => conversations.find(companion.accountId, id)));
  return found.flatMap((each) => (each?.messages ?? []).map(withText));
}
