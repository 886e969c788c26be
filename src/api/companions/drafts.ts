/** Drafts of companions: a change that is made, tried and read, and published as a whole. */
import type { WriteContext } from "../../contracts/store/store.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError, invalidFields, missing } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { Draft, VersionSettings } from "../../domain/version.ts";
import { requirePrices } from "./priced-companions.ts";
import { mergeMetadata, readCompanionPatch, readMergePatch } from "./read-settings.ts";
import { type CompanionServices, getCompanion, releasePeople, rulesOf, via } from "./service.ts";
import { isSame, pickChanged, toWireNames, toWirePatch } from "./version-changes.ts";

type Check = ((draft: Draft) => void) | undefined;

/** Throws `not_found`. */
export async function getDraft({ store }: Pick<CompanionServices, "store">, companion: Companion): Promise<Draft> {
  const draft = await store.drafts.find(companion.accountId, companion.id);
  if (draft === null) throw missing("draft");
  return draft;
}

/** Wire names of the draft's fields that are neither as they were when it began, nor as it makes them. */
export function listConflicts(companion: Companion, { base, patch }: Pick<Draft, "base" | "patch">): string[] {
  const fields = Object.keys(patch) as (keyof VersionSettings)[];
  const changed = fields.filter(
    (field) => !isSame(companion[field], base[field]) && !isSame(companion[field], patch[field]),
  );
  return toWireNames(Object.fromEntries(changed.map((field) => [field, true])));
}

/** Makes the draft again from a merge patch over what is live. Throws as a change of the companion does. */
export async function putDraft(
  services: CompanionServices,
  principal: Principal,
  current: Companion,
  { body, check }: { body: unknown; check: Check },
  context: WriteContext,
): Promise<Draft> {
  // What files call a companion is not what visitors meet.
  if (isJsonObject(body) && body["slug"] !== undefined && body["slug"] !== current.slug) {
    throw invalidFields([{ param: "slug", detail: "A draft has none: change it live." }]);
  }
  const { patch, metadata } = await readMergePatch(body, rulesOf(services, principal), current);
  const revise = (now: Companion): Partial<VersionSettings> => {
    const merged = metadata === null ? patch : { ...patch, metadata: mergeMetadata(now.metadata, metadata) };
    return pickChanged(now, { ...now, ...merged });
  };
  const whole = revise(current);
  await requirePrices(services, { ...current, ...whole }, whole);
  const draft = await services.store.drafts.put(
    ...([current.accountId, current.id] as const),
    (now, before) => {
      if (check !== undefined && before === null) throw noSuchVersion();
      if (before !== null) check?.(before);
      return revise(now);
    },
    context,
  );
  if (draft === null) throw missing("companion");
  return draft;
}

export async function deleteDraft(
  { store }: CompanionServices,
  { accountId, id }: Companion,
  check: Check,
  context: WriteContext,
): Promise<void> {
  if (!(await store.drafts.delete(accountId, id, context, check))) throw missing("draft");
}

/** Throws `conflict` where fields were changed live since the draft began, and as a change of the companion does. */
export async function publishDraft(
  services: CompanionServices,
  principal: Principal,
  id: string,
  { check, overwrite }: { check: Check; overwrite: boolean },
  context: WriteContext,
): Promise<Companion> {
  const current = await getCompanion(services, principal, id);
  const draft = await getDraft(services, current);
  check?.(draft);
  // The operator's bounds may be others by now.
  await readCompanionPatch(toWirePatch(current, draft.patch), rulesOf(services, principal), current);
  await requirePrices(services, { ...current, ...draft.patch }, draft.patch);
  const published = await services.store.drafts.publish(
    ...([current.accountId, current.id] as const),
    (now, newest) => {
      check?.(newest);
      // Checked above was another one.
      if (newest.updatedAt !== draft.updatedAt)
        throw new AppError("conflict", "The draft was changed meanwhile. Read it again.");
      const conflicts = overwrite ? [] : listConflicts(now, newest);
      if (conflicts.length > 0) throw changedLive(conflicts);
      return newest.patch;
    },
    via("publish", context),
  );
  if (published === null) throw missing("draft");
  await releasePeople(services, current, published);
  return published;
}

function changedLive(fields: readonly string[]): AppError {
  const sentence = `Changed live since the draft began: ${fields.join(", ")}. Put the draft again, or publish with overwrite.`;
  return new AppError("conflict", sentence, { members: { fields } });
}

function noSuchVersion(): AppError {
  return new AppError("precondition_failed", "There is no draft, and If-Match names one.");
}
