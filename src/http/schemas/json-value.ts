/** Any value of a companion's fields, tools or sources, in responses that compare them. */
import { Type as t } from "@sinclair/typebox";
import type { JsonValue } from "../../domain/json.ts";
import { AnyObject } from "./schema.ts";

/** Written out: generated clients would have no type for a schema without one. */
export function anyValue(description: string) {
  const list = t.Array(t.Union([t.String(), AnyObject()]));
  const kinds = [t.String(), t.Number(), t.Boolean(), t.Null(), AnyObject(), list];
  return t.Unsafe<JsonValue>(t.Union(kinds, { description }));
}
