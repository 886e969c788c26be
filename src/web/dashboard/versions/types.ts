/** What the API sends of a companion's versions and of its draft. */
import type { Companion, Json } from "../lib/types.ts";

export type ChangeVia = "api" | "dashboard" | "cli" | "apply" | "restore" | "publish";

export interface VersionActor {
  type: "key" | "session" | "cli";
  id: string | null;
  name: string | null;
}

export interface VersionFacts {
  number: number;
  created_at: string;
  actor: VersionActor | null;
  via: ChangeVia | null;
  note: string | null;
  changed: string[];
}

export interface FieldChange {
  field: string;
  from: Json;
  to: Json;
}

export type CompanionDraft = Companion & { changed: string[] };

/** Files that manage a companion. */
export interface CompanionSet {
  set: string;
  /** Wire names, and `tools.<name>` and `sources.<slug>`. */
  fields: string[];
}
