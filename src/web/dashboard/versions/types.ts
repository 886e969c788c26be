/** Which files manage a companion: what the API sends. */
export interface CompanionSet {
  /** Null: none do. */
  set: string | null;
  /** Wire names, and `tools.<name>` and `sources.<slug>`. */
  fields: string[];
}
