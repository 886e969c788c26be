/** Bodies with one object on each line. */
import { type TSchema, Type as t } from "@sinclair/typebox";

export const linesType = "application/x-ndjson";

/**
 * A string to clients, which read and write it piece by piece: a schema of the object itself would have generated ones
 * take the whole for one object.
 */
export function linesOf(schema: TSchema) {
  return t.String({ contentMediaType: linesType, contentSchema: schema });
}
