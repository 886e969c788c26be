/** Ids that callers name: whatever has nothing of the account's behind it gets one and the same error. */

import { toUuid } from "../lib/ids.ts";
import { AppError } from "./errors.ts";

/** The id as it is kept. Throws `missing` for what has not the shape of an id: no lookup could find it. */
export function readId(text: string, noun: string): string {
  const id = toUuid(text);
  if (id === undefined) throw missing(noun);
  return id;
}

/** `not_found`, whether there never was such a thing, it is gone, or it is another account's. */
export function missing(noun: string): AppError {
  return new AppError("not_found", `There is no such ${noun}.`);
}
