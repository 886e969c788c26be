/** The shape of every list response. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import { Nullable } from "./schema.ts";

export function listOf<Item extends TSchema>(item: Item, name: string) {
  return t.Object(
    {
      data: t.Array(item, { description: "Newest first, unless `order` says otherwise." }),
      next_cursor: Nullable(t.String({ description: "Send it as `cursor` for the next page; null on the last one." })),
    },
    { $id: name },
  );
}
