/** Paged lists: `limit`, `cursor` and `order` in, `data` and `next_cursor` out. */

import { type TSchema, Type as t } from "@sinclair/typebox";
import { type ListOrder, type Page, type PageRequest, toPage } from "../contracts/store/page.ts";
import { isEventId } from "../domain/webhook.ts";
import { isUuid } from "../lib/ids.ts";
import { parseInstant } from "../lib/instant.ts";
import { pause } from "../lib/pause.ts";
import { JsonText } from "./json-response.ts";
import type { QueryPart, QueryReader } from "./query.ts";
import { Nullable } from "./schemas/schema.ts";

const defaultLimit = 20;
const maxLimit = 1000;
/** Of a page's JSON. */
const maxPageBytes = 8 * 1024 * 1024;
/** Of these, what stands around the items; a cursor has at most 80 bytes. */
const frameBytes = 128;
/** Items that are read in one go: as many as are a few milliseconds of work, judged by those before. */
const firstRead = 8;
const maxPerRead = 100;
const bytesPerRead = 256 * 1024;

const pageParameters = {
  limit: () =>
    t.Integer({
      minimum: 1,
      maximum: maxLimit,
      default: defaultLimit,
      description: "Items on a page, which is shorter where it would exceed 8 MiB.",
    }),
  cursor: () => t.String({ description: "`next_cursor` of the page before." }),
  order: () => t.String({ enum: ["asc", "desc"], default: "desc", description: "`desc`: the newest first." }),
};

/** The parameters of every list. */
export const pageQuery: QueryPart<PageRequest> = {
  parameters: pageParameters,
  read: (query) => readPage(query, false),
};

/** The parameters of a list whose items move: a cursor has their last change, too. */
export const movingPageQuery: QueryPart<PageRequest> = {
  parameters: pageParameters,
  read: (query) => readPage(query, true),
};

/** The response of every list. */
export function listOf<Item extends TSchema>(item: Item, name: string) {
  return t.Object(
    {
      data: t.Array(item, { description: "Newest first, unless `order` says otherwise." }),
      next_cursor: Nullable(t.String({ description: "Send it as `cursor` for the next page; null on the last one." })),
    },
    { $id: name },
  );
}

export interface UpdatedPage extends PageRequest {
  /** Null: by creation. */
  readonly updatedSinceMs: number | null;
}

/** The parameters of a list that can also be read by last change. */
export const updatedPageQuery: QueryPart<UpdatedPage> = {
  parameters: {
    ...pageParameters,
    updated_since: () =>
      t.String({
        format: "date-time",
        description:
          "Only what was changed at this time or later, in the order of the last change. With `order=asc` what changes " +
          "while the pages are read comes again on a later one, and nothing is left out. A page may have fewer items than " +
          "`limit`, or none, although `next_cursor` leads to more.",
        examples: ["2026-01-31T12:00:00Z"],
      }),
  },
  read(query) {
    const parse = (text: string) => parseInstant(text) ?? undefined;
    const problem = "Must be an RFC 3339 instant (2026-01-31T09:30:00Z).";
    const updatedSinceMs = query.value("updated_since", parse, problem);
    return { ...readPage(query, query.text("updated_since") !== null), updatedSinceMs };
  },
};

/** The parameters of a list whose items have numbers. */
export const numberedPageQuery: QueryPart<Omit<PageRequest, "afterId"> & { afterNumber: number | null }> = {
  parameters: pageParameters,
  read: (query) => ({ ...readBounds(query), afterNumber: query.value("cursor", decodeNumber, wrongCursor) }),
};

const wrongCursor = "This is not a cursor of this list: use next_cursor unchanged.";

function readPage(query: QueryReader, isByUpdate: boolean): PageRequest {
  const cursor = query.value("cursor", (text) => decodeCursor(text, isByUpdate), wrongCursor);
  return {
    ...readBounds(query),
    afterId: cursor?.id ?? null,
    ...(cursor?.updatedAt == null ? {} : { afterUpdatedAt: cursor.updatedAt }),
  };
}

function readBounds(query: QueryReader): Pick<PageRequest, "limit" | "order"> {
  const limit = query.count("limit", maxLimit) ?? defaultLimit;
  const order = query.value("order", parseOrder, "Must be asc or desc.");
  return order === "asc" ? { limit, order } : { limit };
}

function parseOrder(text: string): ListOrder | undefined {
  return text === "asc" || text === "desc" ? text : undefined;
}

interface ListedItem {
  readonly id: string;
  readonly updatedAt: number;
}

/** Where a list goes on. */
interface Cursor {
  id: string;
  /** In a list by last change. */
  updatedAt?: number | null | undefined;
}

/** The JSON of a page, which ends before it exceeds 8 MiB: in bytes, since encoding all of it in one go takes long. */
class PageText {
  readonly #pieces: Uint8Array[] = [];
  #bytes = frameBytes;
  #last: Cursor | null = null;

  get length(): number {
    return this.#pieces.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False if the item does not fit: the page is `full` then. A first item always does. */
  add(wire: object, cursor: Cursor): boolean {
    const piece = Buffer.from(`${this.#last === null ? "" : ","}${JSON.stringify(wire)}`);
    this.#bytes += piece.length;
    if (this.#bytes > maxPageBytes && this.#last !== null) return false;
    this.#pieces.push(piece);
    this.#last = cursor;
    return true;
  }

  /** The page, with the position behind which the list goes on. */
  finish(next: Cursor | null): JsonText {
    const cursor = JSON.stringify(next === null ? null : encodeCursor(next));
    const end = Buffer.from(`],"next_cursor":${cursor}}`);
    return new JsonText(Buffer.concat([Buffer.from('{"data":['), ...this.#pieces, end]));
  }

  /** The page, whose list goes on behind its last item. */
  full(): JsonText {
    return this.finish(this.#last);
  }
}

/** The response of a list with large items: reads them a part at a time. */
export async function collectList<Item extends ListedItem>(
  page: UpdatedPage,
  read: (page: PageRequest) => Promise<Page<Item>>,
  toWire: (item: Item) => object | Promise<object>,
): Promise<JsonText> {
  const text = new PageText();
  let atOnce = firstRead;
  for (let part = page; ; ) {
    // Also before the first: ten lists may have been requested at the same time.
    await pause();
    const limit = Math.min(atOnce, page.limit - text.length);
    const bytesBefore = text.bytes;
    const { items, nextAfterId, nextUpdatedAt } = await read({ ...part, limit });
    for (const item of items) {
      const cursor = page.updatedSinceMs === null ? { id: item.id } : { id: item.id, updatedAt: item.updatedAt };
      if (!text.add(await toWire(item), cursor)) return text.full();
    }
    if (nextAfterId === null) return text.finish(null);
    const next = { id: nextAfterId, updatedAt: nextUpdatedAt };
    // A shorter part was cut off after a bounded amount of reading.
    if (text.length === page.limit || items.length < limit) return text.finish(next);
    part = { ...page, afterId: next.id, afterUpdatedAt: next.updatedAt ?? null };
    const bytesOfOne = (text.bytes - bytesBefore) / items.length;
    atOnce = Math.max(1, Math.min(maxPerRead, Math.floor(bytesPerRead / bytesOfOne)));
  }
}

/** The response of a list route; `toCursor` gives the position of its items, if not by their creation. */
export function toWireList<Item extends { readonly id: string }>(
  { items, nextAfterId, nextUpdatedAt }: Page<Item>,
  toWire: (item: Item) => object,
  toCursor: (item: Item) => Cursor = ({ id }) => ({ id }),
): JsonText {
  const text = new PageText();
  for (const item of items) if (!text.add(toWire(item), toCursor(item))) return text.full();
  return text.finish(nextAfterId === null ? null : { id: nextAfterId, updatedAt: nextUpdatedAt });
}

/** A page of a list that the store returns whole. If the cursor's item is deleted, its id still marks its position. */
export function cutPage<Item extends { id: string }>(newestFirst: readonly Item[], page: PageRequest): Page<Item> {
  const { afterId, limit } = page;
  const isAsc = page.order === "asc";
  const sorted = isAsc ? newestFirst.toReversed() : newestFirst;
  const at = afterId === null ? -1 : sorted.findIndex(({ id }) => id === afterId);
  const isGone = afterId !== null && at === -1;
  const rest = isGone ? sorted.filter(({ id }) => (isAsc ? id > afterId : id < afterId)) : sorted.slice(at + 1);
  return toPage(rest, limit);
}

export function encodeCursor({ id, updatedAt }: Cursor): string {
  return Buffer.from(updatedAt == null ? id : `${id}@${updatedAt}`, "utf8").toString("base64url");
}

function decodeCursor(text: string, isByUpdate: boolean): Cursor | undefined {
  const [id = "", time = null] = Buffer.from(text, "base64url").toString("utf8").split("@", 2);
  if (!(isUuid(id) || isEventId(id)) || (time !== null) !== isByUpdate || (time !== null && !/^\d{1,15}$/.test(time)))
    return undefined;
  const cursor = { id, updatedAt: time === null ? null : Number(time) };
  // Encode it again and compare, because decoding skips anything that is not base64url.
  return encodeCursor(cursor) === text ? cursor : undefined;
}

function decodeNumber(text: string): number | undefined {
  const id = Buffer.from(text, "base64url").toString("utf8");
  return /^[1-9]\d{0,8}$/.test(id) && encodeCursor({ id }) === text ? Number(id) : undefined;
}
