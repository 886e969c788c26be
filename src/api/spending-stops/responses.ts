/** Responses of the routes of stops, for the API document and as types for the dashboard: created on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";

export const SpendingStopObject = namedObject(
  "SpendingStop",
  () => ({
    account_id: Nullable(t.String({ format: "uuid", description: "Whose calls are stopped; null: everybody's." })),
    stopped_at: t.String({ format: "date-time", description: "Since when.", examples: ["2026-01-31T12:00:00.000Z"] }),
  }),
  { additionalProperties: false },
);
export type SpendingStop = Static<typeof SpendingStopObject>;

export const SpendingStopList = namedObject("SpendingStopList", () => ({ data: t.Array(SpendingStopObject) }));
