/** Why a set is not applied: each a `conflict`. */
import { AppError } from "../../../domain/errors.ts";
import type { PlanItem } from "./responses.ts";

/** Of a sentence: further ones are in the problem's `drift`. */
const maxNamed = 3;

export function refuseEmpty(): AppError {
  return new AppError("conflict", "There are no companions to apply: an empty set is never applied.");
}

export function refuseForeign(slug: string, set: string): AppError {
  const sentence = `The companion "${slug}" belongs to the set "${set}". Send overwrite to move it.`;
  return new AppError("conflict", sentence, { members: { slug, set } });
}

export function refuseSlug(slug: string, other: string): AppError {
  const sentence = `The companion that "${slug}" adopts has the slug "${other}" already. Clear it first.`;
  return new AppError("conflict", sentence, { members: { slug } });
}

export function refuseMany(count: number, most: number): AppError {
  const sentence = `${count} companions of the set are not in the files, and prune_max is ${most}. Check the files first.`;
  return new AppError("conflict", sentence);
}

/** With who changed what when. */
export function refuseDrift(items: readonly PlanItem[]): AppError {
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
