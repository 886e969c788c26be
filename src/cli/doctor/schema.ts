/** Judges whether the tables are those that this version makes. */
import type { SchemaDifferences } from "../../contracts/store/inspection.ts";
import { type Finding, fail, warn } from "./finding.ts";

const maxNamed = 8;

/** Nothing to report where they are. */
export function judgeSchema({ changed, added }: SchemaDifferences): Finding[] {
  const name = "tables";
  const found: Finding[] = [];
  if (changed.length > 0) {
    const advice =
      "The database was changed by hand, or made by a development build. Undo that, or restore a backup from before it.";
    found.push(fail(name, `Not as this version makes them, or missing: ${list(changed)}.`, advice));
  }
  if (added.length > 0) {
    const advice = "Remove what was added to them by hand: an update may fail on it.";
    found.push(warn(name, `With more than this version makes: ${list(added)}.`, advice));
  }
  return found;
}

function list(tables: readonly string[]): string {
  const more = tables.length - maxNamed;
  return `${tables.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
