/** Applies a set as the server does: with its rules, and with what has to hear of it. */
import type { WriteContext } from "../../../contracts/store/store.ts";
import type { Services } from "../../../core/dependencies.ts";
import type { Principal } from "../../../domain/account.ts";
import { requirePrices } from "../priced-companions.ts";
import { rulesOf } from "../service.ts";
import type { Rules } from "./read-items.ts";
import type { PreparedApply } from "./service.ts";

export function makeRules(services: Services, principal: Pick<Principal, "account" | "keyId">): Rules {
  const { account, keyId } = principal;
  return {
    ...rulesOf(services, principal),
    findUrlFault: (url) => services.outgoing.findFault(url),
    requirePrices(companion, patch) {
      // A new one has no id yet, and so no budget of its own.
      const unmade = { id: "", accountId: account.id, createdByKeyId: keyId };
      return requirePrices(services, { ...unmade, ...companion }, patch);
    },
  };
}

export async function applyPrepared(
  { people, toolbox, indexing }: Pick<Services, "people" | "toolbox" | "indexing">,
  { write, effects, note }: PreparedApply,
  context: WriteContext,
): Promise<void> {
  if (write === null) return;
  const { actorName = null, note: sentNote = null } = context.change ?? {};
  await write({ ...context, change: { via: "apply", note: note ?? sentNote, actorName } });
  for (const id of effects.toolIds) toolbox.forget(id);
  if (effects.hasQueued) indexing.wake();
  for (const companionId of effects.releasedIds) await people.releaseAll({ companionId });
}
