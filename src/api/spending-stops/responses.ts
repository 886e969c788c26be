/** Responses of the routes of stops: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { SpendingStop as StoredStop } from "../../contracts/store/store.ts";
import { closedObject, instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export const SpendingStopObject = closedObject("SpendingStop", () => ({
  account_id: Nullable(
    t.String({ format: "uuid", description: "Whose calls are stopped; null: those of all accounts." }),
  ),
  stopped_at: instant("Since when."),
}));
export type SpendingStop = Static<typeof SpendingStopObject>;

export const SpendingStopList = namedObject("SpendingStopList", () => ({ data: t.Array(SpendingStopObject) }));

export function toWireStop({ accountId, stoppedAt }: StoredStop): SpendingStop {
  return { account_id: accountId, stopped_at: toRfc3339(stoppedAt) };
}
