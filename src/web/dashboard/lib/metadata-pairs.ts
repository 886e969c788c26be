/** Metadata that companions must have, for a budget or a visitor key: as it is typed, and in words. */
import type { Budget } from "./types.ts";

export interface MetadataPair {
  field: string;
  value: string;
}

export const maxPairs = 5;
export const noPairs: readonly MetadataPair[] = [{ field: "", value: "" }];

type Filter = NonNullable<Budget["metadata"]>;

export function toPairs(metadata: Filter): MetadataPair[] {
  return Object.entries(metadata).map(([field, value]) => ({ field, value: toText(value) }));
}

export function findPairsProblem(pairs: readonly MetadataPair[]): string | undefined {
  const fields = pairs.map(({ field }) => field.trim());
  if (fields.includes("")) return "A field has no name.";
  return new Set(fields).size < fields.length ? "A field is there twice." : undefined;
}

/** Compared as text, so that "42" finds the number as well. */
export function toMetadata(pairs: readonly MetadataPair[]): Filter {
  return Object.fromEntries(pairs.map(({ field, value }) => [field.trim(), value]));
}

/** `tenant = acme and plan = pro` */
export function describeMetadata(metadata: Filter): string {
  return toPairs(metadata)
    .map(({ field, value }) => `${field} = ${value}`)
    .join(" and ");
}

/** Filters that are the same look the same, however they were written. */
export function isSameFilter(one: Filter | null, other: Filter | null): boolean {
  const order = (metadata: Filter | null) =>
    metadata && toPairs(metadata).map(({ field, value }) => JSON.stringify([field, value]));
  return order(one)?.sort().join() === order(other)?.sort().join();
}

function toText(value: Filter[string]): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
