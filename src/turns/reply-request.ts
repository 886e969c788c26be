/** What a companion asks of the model: its own settings within the operator's bounds, and as much history as fits. */

import type { Settings } from "../dependencies.ts";
import { type Companion, companionDefaults } from "../domain/companion.ts";
import { estimateTokens, type HistoryMessage, selectHistory, textParts } from "../domain/conversation.ts";
import type { ReplyRequest } from "../llm/provider.ts";

/** What of the companion's context is left for earlier turns, behind its instructions and the new message; 0 or more. */
export function historyTokensOf(
  { contextTokens, systemPrompt }: Pick<Companion, "contextTokens" | "systemPrompt">,
  message: string,
): number {
  const promptTokens = systemPrompt === null ? 0 : estimateTokens(systemPrompt);
  return Math.max(0, (contextTokens ?? companionDefaults.contextTokens) - promptTokens - estimateTokens(message));
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
    messages: [
      ...selectHistory(turn.earlier, historyTokensOf(companion, turn.message)),
      { role: "user", parts: textParts(turn.message) },
    ],
    model: offered ?? model,
    temperature: companion.temperature,
    maxOutputTokens: Math.min(companion.maxOutputTokens ?? maxOutputTokens, maxOutputTokens),
    requestId: turn.requestId,
  };
}
