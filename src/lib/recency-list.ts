/**
 * A list of items ordered by last use. A `Map` kept in this order by delete and set slows down as it fills with holes.
 */

export interface RecencyLinks<Item> {
  newer: Item | null;
  older: Item | null;
}

/** The links live in the items, so that a use allocates nothing. An item can be in one list only. */
export class RecencyList<Item extends RecencyLinks<Item>> {
  #newest: Item | null = null;
  #oldest: Item | null = null;

  /** The least recently used item. */
  get oldest(): Item | null {
    return this.#oldest;
  }

  add(item: Item): void {
    item.newer = null;
    item.older = this.#newest;
    if (this.#newest === null) this.#oldest = item;
    else this.#newest.newer = item;
    this.#newest = item;
  }

  /** Marks an item of the list as just used. */
  touch(item: Item): void {
    if (item === this.#newest) return;
    this.remove(item);
    this.add(item);
  }

  remove(item: Item): void {
    if (item.newer === null) this.#newest = item.older;
    else item.newer.older = item.older;
    if (item.older === null) this.#oldest = item.newer;
    else item.older.newer = item.newer;
    item.newer = null;
    item.older = null;
  }
}
