/** Which companions a visitor key vouches for, in words. */
import { describeMetadata } from "../lib/metadata-pairs.ts";
import type { VisitorKey } from "../lib/types.ts";

export function describeReach({ metadata }: VisitorKey): string {
  return metadata === null ? "All companions" : `Companions with ${describeMetadata(metadata)}`;
}
