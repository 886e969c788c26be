/** Of files that manage a companion: what the API sends. */
export interface CompanionSet {
  set: string;
  /** Wire names, and `tools.<name>` and `sources.<slug>`. */
  fields: string[];
}
