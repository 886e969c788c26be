/** Lists: which part is asked for, and what comes back. */

/** Which part of a list to read: newest first by creation, stable under inserts and deletions. */
export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** The id of the last item of the page before, or null for the first page. */
  afterId: string | null;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page starts (`afterId`), or null on the last page. */
  nextAfterId: string | null;
}
