/** Metadata that companions must have: as budgets and visitor keys take it. */
import { Type as t } from "@sinclair/typebox";
import type { JsonObject } from "../../domain/json.ts";
import { findMetadataProblem } from "../../domain/metadata.ts";

const maxValues = 5;

export const metadataFilter = (description: string) =>
  t.Unsafe<JsonObject>(
    t.Record(t.String(), t.Union([t.String(), t.Number(), t.Boolean(), t.Null()]), {
      description: `${description} Names are paths as in filters: \`tenant\`, \`user.id\`.`,
      examples: [{ tenant: "acme" }],
    }),
  );

/** A public sentence on what its schema cannot state; null if there is none. */
export function findFilterProblem(filter: JsonObject): string | null {
  const values = Object.keys(filter).length;
  const isCounted = values >= 1 && values <= maxValues;
  return isCounted ? findMetadataProblem(filter) : `Must have 1 to ${maxValues} values.`;
}
