/** Tables of conversations, for the generator of migrations. */
import { sqlite, tables } from "../tables.ts";

export const { conversations, messages, removals } = tables;

/** Stretches of numbers whose rows are all erased, including removed ones; see `row-eraser.ts`. */
export const erasedRangesTable = (name: string) =>
  sqlite.table(name, () => ({
    first: sqlite.whole("first").primaryKey(),
    last: sqlite.whole("last").notNull(),
    /** Minimum size of the erased rows that still exist, in the pages that they share with others. */
    bytes: sqlite.whole("bytes").notNull(),
  }));

export const erasedRanges = erasedRangesTable("erased_ranges");
