/** Tables of conversations, for the generator of migrations. */
import { sqlite, tables } from "../tables.ts";

export const { conversations, messages, removals } = tables;

/** Stretches of numbers whose messages are all erased, including removed ones. */
export const erasedRanges = sqlite.table("erased_ranges", () => ({
  first: sqlite.whole("first").primaryKey(),
  last: sqlite.whole("last").notNull(),
  /** Minimum size of the erased messages that still exist, in the pages that they share with others. */
  bytes: sqlite.whole("bytes").notNull(),
}));
