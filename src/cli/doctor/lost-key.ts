/** Judges what it means that the key there is does not open what the database holds. */
import type { StoredFacts } from "../../contracts/store/inspection.ts";
import { type Finding, fail } from "./finding.ts";

type Sealed = Pick<StoredFacts, "hasSealed" | "hasSealedWords">;

/** Null where nothing is lost with the earlier key. */
export function judgeLostKey(name: string, detail: string, { hasSealed, hasSealedWords }: Sealed): Finding | null {
  if (hasSealed) return fail(name, detail, "Put the earlier key back: serve refuses to start without it.");
  if (!hasSealedWords) return null;
  const what = "contacts, notes, comments, reasons and mail that waits";
  return fail(name, detail, `Put the earlier key back: without it serve starts, but ${what} can no longer be read.`);
}
