/** Lists: one page, or all items as an async iterator that fetches the pages as they are needed. */

export interface PageOf<Item> {
  data: Item[];
  next_cursor: string | null;
}

type Paged = { cursor?: string | undefined };

/** Goes on after `cursor` where one is given. A list is stable while items are added. */
export async function* iteratePages<Item, Query extends Paged>(
  query: Query,
  loadPage: (query: Query) => Promise<PageOf<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor = query.cursor;
  do {
    const page: PageOf<Item> = await loadPage({ ...query, cursor });
    yield* page.data;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
