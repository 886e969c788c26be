/** Keeps companions under a budget that stops at what has a price. */
import type { Services } from "../../core/dependencies.ts";
import { findUnpricedModel, findUnpricedVoice, type PricedServices } from "../../core/turns/unpriced.ts";
import { factsOfSubject, spendingFactsOf } from "../../domain/budget.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import { invalidFields } from "../../domain/errors.ts";

type Judged = Pick<
  Companion,
  "id" | "accountId" | "createdByKeyId" | "model" | "voiceId" | "voiceAgentId" | "metadata"
>;

/**
 * `companion` as it would become by `changes`. Throws `invalid_request` if these would put calls that have no price under
 * a budget that stops. Reads nothing where all that it calls has a price.
 */
export async function requirePrices(
  services: PricedServices & Pick<Services, "store">,
  companion: Judged,
  changes: Partial<CompanionSettings>,
): Promise<void> {
  const { model, voiceId, voiceAgentId, metadata } = changes;
  if ([model, voiceId, voiceAgentId, metadata].every((change) => change === undefined)) return;
  const { id: companionId, accountId, createdByKeyId: keyId } = companion;
  const hasVoice = (companion.voiceId ?? companion.voiceAgentId) !== null;
  const models = findUnpricedModel(services, companion);
  const unpriced = [...models, ...findUnpricedVoice(services, { hasVoice })];
  if (unpriced.length === 0) return;
  const { spending, apiKeys } = services.store;
  // Such keys call every companion of the account, no matter who made it.
  const callers = (await apiKeys.list(accountId)).filter(({ scopes }) => scopes.includes("chat:write"));
  const facts = spendingFactsOf({ companionId, keyId, metadata: companion.metadata });
  const all = [...facts, ...callers.flatMap(({ id }) => factsOfSubject({ keyId: id }))];
  const budgets = await spending.listMatching(accountId, [...new Set(all)]);
  if (!budgets.some(({ action }) => action === "stop")) return;
  const voiceField = companion.voiceId === null ? "voice_agent_id" : "voice_id";
  const isChanged = models.length > 0 ? model !== undefined : (voiceId ?? voiceAgentId) !== undefined;
  const field = models.length > 0 ? "model" : voiceField;
  const detail = `Has no price on this server (${unpriced.join(", ")}), and a budget stops its calls at a limit.`;
  throw invalidFields([{ param: isChanged ? field : "metadata", detail }]);
}
