/** What a companion asks of the model: its own settings within the operator's bounds, and as much history as fits. */
import { type Companion, companionDefaults } from "../domain/companion.ts";
import { type HistoryMessage, selectHistory } from "../domain/conversation.ts";
import type { ReplyRequest } from "../llm/provider.ts";
import type { Settings } from "./services.ts";

export function contextTokensOf({ contextTokens }: Pick<Companion, "contextTokens">): number {
  return contextTokens ?? companionDefaults.contextTokens;
}

/** `earlier` newest first, possibly more than fits. */
export function toReplyRequest(
  { model, models, maxOutputTokens }: Settings["llm"],
  companion: Companion,
  turn: { earlier: readonly HistoryMessage[]; message: string; requestId: string },
): ReplyRequest {
  // The operator may have narrowed the choice since the companion was saved, and it is the operator who pays.
  const offered = models.find((name) => name === companion.model);
  return {
    systemPrompt: companion.systemPrompt,
    messages: [...selectHistory(turn.earlier, contextTokensOf(companion)), { role: "user", text: turn.message }],
    model: offered ?? model,
    temperature: companion.temperature,
    maxOutputTokens: Math.min(companion.maxOutputTokens ?? maxOutputTokens, maxOutputTokens),
    requestId: turn.requestId,
  };
}
