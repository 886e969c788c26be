/** Whose spending a budget counts, in words. */
import { useCompanionNames } from "../lib/companion-names.ts";
import { shortId } from "../lib/format.ts";
import { describeMetadata } from "../lib/metadata-pairs.ts";
import type { Budget } from "../lib/types.ts";
import { useKeyNames } from "../usage/usage-table.tsx";

/** Names what the budgets are about; the names of companions and keys arrive a moment later. */
export function useSubjectWords(budgets: readonly Budget[]): (budget: Budget) => string {
  const companions = useCompanionNames(budgets.map(({ companion_id }) => companion_id));
  const keys = useKeyNames(budgets.some(({ key_id }) => key_id !== null));
  return ({ companion_id, key_id, metadata }) => {
    if (companion_id) return `Companion ${companions[companion_id] ?? `…${shortId(companion_id)}`}`;
    if (key_id) return `API key ${keys[key_id] ?? `…${shortId(key_id)}`}`;
    if (metadata) return `Companions with ${describeMetadata(metadata)}`;
    return "The whole account";
  };
}
