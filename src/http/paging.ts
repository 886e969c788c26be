/** Paged lists: `limit` and `cursor` in, `data` and `next_cursor` out. */
import { Type as t } from "@sinclair/typebox";
import { isUuid } from "../lib/ids.ts";
import { type Page, type PageRequest, toPage } from "../store/contract/page.ts";
import type { QueryPart } from "./query.ts";

const defaultLimit = 20;
const maxLimit = 100;

/** The parameters of every list. */
export const pageQuery: QueryPart<PageRequest> = {
  parameters: {
    limit: () => t.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: "Items on a page." }),
    cursor: () => t.String({ description: "`next_cursor` of the page before." }),
  },
  read(query) {
    const limit = query.value("limit", parseLimit, `Must be a whole number of at least 1 and at most ${maxLimit}.`);
    const wrongCursor = "This is not a cursor of this list: use next_cursor unchanged.";
    return { limit: limit ?? defaultLimit, afterId: query.value("cursor", decodeCursor, wrongCursor) };
  },
};

function parseLimit(text: string): number | undefined {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= maxLimit ? limit : undefined;
}

/** The response of a list route. */
export function toWireList<Item, Wire>(page: Page<Item>, toWire: (item: Item) => Wire) {
  return {
    data: page.items.map(toWire),
    next_cursor: page.nextAfterId === null ? null : encodeCursor(page.nextAfterId),
  };
}

/** A page of a list that the store returns whole. If the cursor's item is deleted, its id still marks its position. */
export function cutPage<Item extends { id: string }>(newestFirst: readonly Item[], page: PageRequest): Page<Item> {
  const { afterId, limit } = page;
  const at = afterId === null ? -1 : newestFirst.findIndex(({ id }) => id === afterId);
  const isGone = afterId !== null && at === -1;
  const rest = isGone ? newestFirst.filter(({ id }) => id < afterId) : newestFirst.slice(at + 1);
  return toPage(rest, limit);
}

function encodeCursor(id: string): string {
  return Buffer.from(id, "utf8").toString("base64url");
}

function decodeCursor(cursor: string): string | undefined {
  const id = Buffer.from(cursor, "base64url").toString("utf8");
  // Encode it again and compare, because decoding skips anything that is not base64url.
  return isUuid(id) && encodeCursor(id) === cursor ? id : undefined;
}
