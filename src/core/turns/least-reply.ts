/** What a reply reserves at the least: with less left of a budget that stops, none is made. */
import type { CompanionChoice } from "../../contracts/store/store.ts";
import type { Services } from "../dependencies.ts";
import { boundOfReply } from "./reply-cost.ts";
import { toReplyRequest } from "./reply-request.ts";

/**
 * In micro-dollars, of the shortest message to any of the companions: what was said or found before costs more, and of several
 * none may have both the shortest prompt and the shortest reply. Null if there are none, or their models have no price.
 */
export function findLeastReply(
  { settings, llm }: Pick<Services, "settings" | "llm">,
  accountId: string,
  choices: readonly CompanionChoice[],
): number | null {
  const shortest = { message: ".", requestId: "", given: undefined, earlier: [], passages: null };
  const bounds = choices.flatMap(({ promptBytes, hasVoice: _, ...choice }) => {
    const systemPrompt = promptBytes === 0 ? null : ".".repeat(promptBytes);
    const unset = { name: "", hadPeople: false, temperature: null, contextTokens: null };
    const companion = { accountId, systemPrompt, ...choice, ...unset };
    const request = toReplyRequest(settings.llm, companion, shortest);
    return boundOfReply(settings.prices, request, llm.listBounds(request)).micros ?? [];
  });
  return bounds.length === 0 ? null : Math.min(...bounds);
}
