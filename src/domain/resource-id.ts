/** Ids from callers. Every id without a resource of the account behind it gets the same error. */

import { toUuid } from "../lib/ids.ts";
import { AppError } from "./errors.ts";

/** The id in its stored form. Throws `missing` if the text is not shaped like an id, so no lookup could find it. */
export function readId(text: string, noun: string): string {
  const id = toUuid(text);
  if (id === undefined) throw missing(noun);
  return id;
}

/** `not_found`, whether the resource never existed, is deleted, or belongs to another account. */
export function missing(noun: string): AppError {
  return new AppError("not_found", `There is no such ${noun}.`);
}
