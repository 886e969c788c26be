/** Objects that the API document shows under their own name. */
import { type ObjectOptions, type TObject, type TProperties, Type as t } from "@sinclair/typebox";
import { later } from "../../lib/later.ts";

/** Creates named schemas on first use, so that a start without a request for the API document creates none. */
export function namedObject<Fields extends TProperties>(
  name: string,
  makeFields: () => Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return later(() => t.Object(makeFields(), { $id: name, ...options }));
}
