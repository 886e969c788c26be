/** What becomes of a set of companions: from what is there and what was sent, without reading or writing anything. */
import type { NewAppliedRecord, SetMember, SetState } from "../../../contracts/store/store.ts";
import { type Difference, findDifference } from "../../../core/companion-sets/differences.ts";
import type { Companion } from "../../../domain/companion.ts";
import { AppError } from "../../../domain/errors.ts";
import type { JsonValue } from "../../../domain/json.ts";
import type { AppliedRecord, VersionFacts } from "../../../domain/version.ts";
import { toRfc3339 } from "../../../lib/clock.ts";
import type { PruneMode } from "./model.ts";
import type { Item } from "./read-items.ts";
import type { PlanItem } from "./responses.ts";
import { toUnits, type Units } from "./units.ts";

export interface PlanRequest {
  readonly items: readonly Item[];
  readonly set: string;
  readonly prune: PruneMode;
  readonly pruneMax: number;
  readonly overwrite: boolean;
  readonly isDryRun: boolean;
}

/** What is to be written for an item; `current` is null for one that is created. */
export interface ItemWrite {
  readonly item: Item;
  readonly current: SetMember | null;
  readonly units: Units;
  /** Fields of units that differ. */
  readonly changed: ReadonlySet<string>;
  /** Whether it was disabled because files lacked it, and is to be enabled again. */
  readonly isRevived: boolean;
  readonly record: AppliedValues;
}

export type AppliedValues = Omit<NewAppliedRecord, "appliedAt">;

export interface Plan {
  readonly plan: PlanItem[];
  readonly writes: readonly ItemWrite[];
  readonly disables: readonly { readonly companion: Companion; readonly record: AppliedValues }[];
  readonly deletes: readonly Companion[];
}

/** Throws `conflict`; of drift only where it is to be applied. */
export function makePlan(state: SetState, request: PlanRequest): Plan {
  const { items, isDryRun, overwrite } = request;
  if (items.length === 0) throw refuseEmpty();
  const bySlug = new Map(state.companions.map((one) => [one.companion.slug, one]));
  const byId = new Map(state.companions.map((one) => [one.companion.id, one]));
  const planned = items.map((item) => {
    const current = bySlug.get(item.slug) ?? (item.adopt === null ? null : (byId.get(item.adopt) ?? null));
    return planItem(item, current, request);
  });
  const pruned = planPruned(state, request);
  const drifted = planned.filter(({ shown }) => shown.action === "drift").map(({ shown }) => shown);
  if (drifted.length > 0 && !isDryRun && !overwrite) throw refuseDrift(drifted);
  return {
    plan: [...planned.map(({ shown }) => shown), ...pruned.shown],
    writes: planned.flatMap(({ write }) => (write === null ? [] : [write])),
    disables: pruned.disables,
    deletes: pruned.deletes,
  };
}

function planItem(item: Item, current: SetMember | null, request: PlanRequest) {
  const { slug } = item;
  const held = current?.applied?.set;
  if (held !== undefined && held !== request.set && !request.overwrite) throw refuseForeign(slug, held);
  const other = current?.companion.slug ?? null;
  if (other !== null && other !== slug) throw refuseSlug(slug, other);
  const units = toUnits(item, current);
  const all = [...units.fields, ...units.tools, ...units.sources];
  const found = all.flatMap((unit) => findDifference(unit) ?? []);
  const changes = found.map(({ change }) => change);
  if (current !== null && current.companion.slug === null) changes.unshift({ field: "slug", from: null, to: slug });
  const isRevived =
    current?.applied?.isPruned === true && !current.companion.enabled && !item.named.includes("enabled");
  if (isRevived) changes.push({ field: "enabled", from: false, to: true });
  const drift = found.flatMap((one) => toDrift(one, current?.changes ?? []));
  const shown: PlanItem = {
    action: findAction(current, changes.length > 0, drift.length > 0 && !request.overwrite),
    ...{ slug, id: current?.companion.id ?? null, changes, drift },
  };
  const record = toRecord(units, item, request.set, current?.applied ?? null);
  const changed = new Set(found.map(({ change }) => change.field));
  const isWritten = changes.length > 0 || !isRecorded(record, current?.applied ?? null);
  return { shown, write: isWritten ? { item, current, units, changed, isRevived, record } : null };
}

function findAction(current: SetMember | null, hasChanges: boolean, isDrift: boolean): PlanItem["action"] {
  if (current === null) return "create";
  if (isDrift) return "drift";
  return hasChanges ? "update" : "unchanged";
}

/** With the last change of the field since it was applied. */
function toDrift({ drift }: Difference, changes: readonly VersionFacts[]): PlanItem["drift"] {
  if (drift === null) return [];
  const [group = ""] = drift.field.split(".", 1);
  const last = changes
    .filter(({ changed }) => changed.includes(group))
    .reduce<VersionFacts | null>((best, one) => (best === null || one.number > best.number ? one : best), null);
  return [{ ...drift, by: last?.actor ?? null, at: last === null ? null : toRfc3339(last.createdAt) }];
}

function planPruned({ companions }: SetState, { items, set, prune, pruneMax }: PlanRequest) {
  const named = new Set(items.map(({ slug }) => slug));
  const lacking = companions.filter(({ companion, applied }) => {
    return applied?.set === set && companion.slug !== null && !named.has(companion.slug);
  });
  const disables = lacking.filter(({ companion, applied }) => companion.enabled && applied?.isPruned !== true);
  const chosen = prune === "off" ? [] : prune === "disable" ? disables : lacking;
  if (chosen.length > pruneMax) throw refuseMany(chosen.length, pruneMax);
  const shown = chosen.map(({ companion: { id, slug } }): PlanItem => {
    const changes = prune === "disable" ? [{ field: "enabled", from: true, to: false }] : [];
    return { action: prune === "disable" ? "disable" : "delete", slug: slug ?? "", id, changes, drift: [] };
  });
  return {
    shown,
    deletes: prune === "delete" ? chosen.map(({ companion }) => companion) : [],
    disables: (prune === "disable" ? chosen : []).flatMap(({ companion, applied }) => {
      if (applied === null) return [];
      const { enabled } = applied.fields;
      const fields = enabled === undefined ? applied.fields : { ...applied.fields, enabled: false };
      return [{ companion, record: { ...toValues(applied), fields, isPruned: true } }];
    }),
  };
}

/** What is the file's from now on. */
function toRecord(units: Units, item: Item, set: string, before: AppliedRecord | null): AppliedValues {
  const entries = (list: readonly { field: string; wanted: JsonValue | undefined }[]) =>
    Object.fromEntries(
      list.flatMap(({ field, wanted }) =>
        wanted === undefined ? [] : [[field.slice(field.indexOf(".") + 1), wanted]],
      ),
    );
  const sources = units.sources.flatMap((unit): { field: string; wanted: JsonValue | undefined }[] => {
    // What is sent later is not there yet: until then it is as it was applied before.
    if (unit.item?.file_hash === undefined || findDifference(unit) === null) return [unit];
    const kept = before?.sources?.[unit.item.slug];
    return kept === undefined ? [] : [{ field: unit.field, wanted: kept }];
  });
  return {
    set,
    fields: Object.fromEntries(units.fields.map(({ field, wanted }) => [field, wanted ?? null])),
    tools: item.tools === null ? null : entries(units.tools),
    sources: item.sources === null ? null : entries(sources),
    isPruned: false,
  };
}

function isRecorded(record: AppliedValues, before: AppliedRecord | null): boolean {
  return before !== null && Bun.deepEquals(record, toValues(before));
}

function toValues({ set, fields, tools, sources, isPruned }: AppliedRecord): AppliedValues {
  return { set, fields, tools, sources, isPruned };
}

/** Of a sentence: further ones are in the problem's `drift`. */
const maxNamed = 3;

function refuseEmpty(): AppError {
  return new AppError("conflict", "There are no companions to apply: an empty set is never applied.");
}

function refuseForeign(slug: string, set: string): AppError {
  const sentence = `The companion "${slug}" belongs to the set "${set}". Send overwrite to move it.`;
  return new AppError("conflict", sentence, { members: { slug, set } });
}

function refuseSlug(slug: string, other: string): AppError {
  const sentence = `The companion that "${slug}" adopts has the slug "${other}" already. Clear it first.`;
  return new AppError("conflict", sentence, { members: { slug } });
}

function refuseMany(count: number, most: number): AppError {
  const sentence = `${count} companions of the set are not in the files, and prune_max is ${most}. Check the files first.`;
  return new AppError("conflict", sentence);
}

/** With who changed what when. */
function refuseDrift(items: readonly PlanItem[]): AppError {
  const drift = items.flatMap((item) =>
    item.drift.map(({ field, by, at }) => ({ slug: item.slug, id: item.id, field, by, at })),
  );
  const named = drift.slice(0, maxNamed).map(({ slug, field, by, at }) => {
    const who = by === null ? "" : ` by ${by.name ?? by.id ?? by.type}`;
    return `${slug}.${field}${who}${at === null ? "" : ` at ${at}`}`;
  });
  const more = drift.length > maxNamed ? `, and ${drift.length - maxNamed} more` : "";
  const sentence = `Changed elsewhere since it was applied: ${named.join(", ")}${more}. Send overwrite to apply it all the same.`;
  return new AppError("conflict", sentence, { members: { drift } });
}
