/** Labels of usage: joined with sums of it, and cut into slices for the metadata index. */
import type { MetadataFilter } from "../../../contracts/store/companions.ts";
import type { UsageGroup } from "../../../contracts/store/usage.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { matchesMetadata } from "./metadata-blocks.ts";
import { isMetadata, readFields } from "./usage-groups.ts";
import type { SumRow } from "./usage-sums.ts";

/** Sums with the values of the groups `metadata.…`. */
export type Summed = readonly (readonly [row: SumRow, fields: readonly (string | null)[]])[];

/** The metadata of a label, as JSON text. */
export interface LabelText {
  number: number;
  metadata: string;
}

interface Asked {
  groupBy: readonly UsageGroup[];
  /** Rows under other metadata are left out. */
  filters: readonly MetadataFilter[];
}

interface Label {
  fields: readonly (string | null)[];
  isMatch: boolean;
}

/** What a query remembers of labels: they occur again in the next part of the same companions. */
const maxKnown = 10_000;

export function createLabelJoin(source: { readLabels(numbers: readonly number[]): AsyncGenerator<LabelText[]> }) {
  async function readNew(rows: readonly SumRow[], known: Map<number, Label>, { groupBy, filters }: Asked) {
    const missing = [...new Set(rows.map(({ label }) => label))].filter((number) => !known.has(number));
    if (missing.length === 0) return;
    for await (const labels of source.readLabels(missing)) {
      for (const { number, metadata: text } of labels) {
        const metadata = JSON.parse(text) as JsonObject;
        known.set(number, { fields: readFields(metadata, groupBy), isMatch: matchesMetadata(metadata, filters) });
      }
    }
  }

  return async function* (parts: AsyncIterable<SumRow[]>, asked: Asked): AsyncGenerator<Summed> {
    const { groupBy, filters } = asked;
    const isJoined = filters.length > 0 || groupBy.some(isMetadata);
    // 0, and one that is gone, say nothing.
    const none: Label = { fields: readFields({}, groupBy), isMatch: filters.length === 0 };
    const known = new Map([[0, none]]);
    for await (const rows of parts) {
      if (!isJoined) {
        yield rows.map((row) => [row, none.fields] as const);
        continue;
      }
      if (known.size > maxKnown) for (const number of known.keys()) if (number !== 0) known.delete(number);
      await readNew(rows, known, asked);
      const labelled = rows.map((row) => [row, known.get(row.label) ?? none] as const);
      yield labelled.flatMap(([row, { fields, isMatch }]) => (isMatch ? [[row, fields] as const] : []));
    }
  };
}

interface UnindexedLabel {
  number: number;
  /** Characters of its metadata. */
  size: number;
}

export const maxLabelsPerSlice = 250;
/** A value takes eight characters at least: some hundred rows of the index. */
const maxCharacters = 16_384;

/**
 * How many labels of usage get into the metadata index with one commit. The first of them, at least one, as many as
 * are some milliseconds of work.
 */
export function cutSlice(labels: readonly UnindexedLabel[]): number[] {
  const numbers: number[] = [];
  let characters = 0;
  for (const { number, size } of labels) {
    characters += size;
    if (numbers.length > 0 && characters > maxCharacters) break;
    numbers.push(number);
  }
  return numbers;
}
