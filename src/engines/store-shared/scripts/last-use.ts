/** When sessions and embed tokens were last used: a later use replaces an earlier one. */

/** Sets many in one commit, in each engine's own way. Unknown ids are ignored. */
export type RecordLastUses = (
  table: "sessions" | "embed_tokens",
  uses: readonly { id: string; lastUsedAt: number }[],
) => Promise<void>;
