/** Pages of lists: requests and results. */

export type ListOrder = "asc" | "desc";

/** Which part of a list to read: by default newest first by creation, stable under inserts and deletions. */
export interface PageRequest {
  /** 1 to 1000. */
  limit: number;
  /** The id of the last item on the previous page, or null for the first page. */
  afterId: string | null;
  /** Left out: `desc`, the newest first. */
  order?: ListOrder;
  /**
   * In a list by last change, when the item at `afterId` was last changed as the previous page had it: it may have moved
   * since.
   */
  afterUpdatedAt?: number | null;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page starts (`afterId`), or null on the last page. */
  nextAfterId: string | null;
  /** In a list by last change, the `afterUpdatedAt` of the next page. */
  nextUpdatedAt?: number | null;
}

/** The page of `limit` items from what follows `afterId`, of which one more than the page holds shows that more follow. */
export function toPage<Item extends { id: string }>(following: readonly Item[], limit: number): Page<Item> {
  const items = following.slice(0, limit);
  return { items, nextAfterId: following.length > limit ? (items.at(-1)?.id ?? null) : null };
}
