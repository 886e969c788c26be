/** Many rows as one array for each column: the parameters of `unnest`. */
import type { Parameter } from "../queries.ts";

type Value = string | number | boolean | null;

/** For each of `fields` the values of all rows, in order. */
export function toArrays<Row>(rows: readonly Row[], fields: readonly ((row: Row) => Value)[]): Parameter[] {
  return fields.map((field) => rows.map(field));
}

/** `$first::type, …`: the places of parameters of these types. */
export function places(types: readonly string[], first = 1): string {
  return types.map((type, at) => `$${first + at}::${type}`).join(", ");
}
