/** Items in the order of their last use. A `Map` kept in that order by deleting and setting slows down with its holes. */

export interface RecencyLinks<Item> {
  newer: Item | null;
  older: Item | null;
}

/** The links live in the items, so that a use allocates nothing. An item is in one list at most. */
export class RecencyList<Item extends RecencyLinks<Item>> {
  #newest: Item | null = null;
  #oldest: Item | null = null;

  /** The item whose last use lies furthest back. */
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

  /** Notes a use of an item that is in the list. */
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
