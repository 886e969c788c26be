/** Where a visitor is erased, by the name that their website, or their browser, has given them. */
import { ApiError } from "../lib/api.ts";

/** Browsers resolve `..`, even encoded: the request would delete the companion itself. */
export function toVisitorPath(companionId: string, name: string): string {
  if (/^\.{0,2}$/.test(name)) {
    throw new ApiError("A visitor of this name cannot be erased here: delete their conversations.", 0, "unnamed");
  }
  return `/api/companions/${companionId}/visitors/${encodeURIComponent(name)}`;
}
