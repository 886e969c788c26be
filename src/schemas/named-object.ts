/** Objects that the API document shows under their own name. */
import { type ObjectOptions, type TObject, type TProperties, Type as t } from "@sinclair/typebox";
import { later } from "../lib/later.ts";

/** Made on first use: a start that no one asks for the API document makes no schema. */
export function namedObject<Fields extends TProperties>(
  name: string,
  makeFields: () => Fields,
  options: ObjectOptions = {},
): TObject<Fields> {
  return later(() => t.Object(makeFields(), { $id: name, ...options }));
}
