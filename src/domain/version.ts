/** Versions of companions: what each change of one leaves behind, and what a draft or an applied file has of it. */
import type { CompanionSettings, JsonValue } from "./companion.ts";
import type { ToolSettings } from "./tool.ts";

export type { ToolSettings } from "./tool.ts";

export const changeVias = ["api", "dashboard", "cli", "apply", "restore", "publish"] as const;
/** What a change came through. */
export type ChangeVia = (typeof changeVias)[number];

/** Versions kept of each companion, beside those that kept messages name. */
export const maxVersions = 500;

/** In characters. */
export const maxChangeNoteLength = 500;

export interface VersionActor {
  readonly type: "key" | "session" | "cli";
  /** The key's or session's id; null for the CLI. */
  readonly id: string | null;
  /** The key's name at that time, or the e-mail address of the person signed in; null where there is none. */
  readonly name: string | null;
}

export interface VersionFacts {
  /** From 1, in each companion. */
  readonly number: number;
  readonly createdAt: number;
  /** Null where it is not known: of a first version, which is stored with the first change unless it has a note. */
  readonly actor: VersionActor | null;
  /** Null of a first version that was made without a note. */
  readonly via: ChangeVia | null;
  readonly note: string | null;
  /** Wire names of fields, `tools`, `sources`; none of a first version. */
  readonly changed: readonly string[];
}

/** What versions keep: all that the owner sets but the slug, which is no part of what visitors meet. */
export type VersionSettings = Omit<CompanionSettings, "slug">;

export interface VersionSource {
  readonly id: string;
  readonly title: string;
  /** SHA-256, hex, of the text that answered while the version was current; null if there was none. */
  readonly contentHash: string | null;
}

export interface CompanionVersion extends VersionFacts {
  readonly settings: VersionSettings;
  /** By name. */
  readonly tools: readonly ToolSettings[];
  /** By id. */
  readonly sources: readonly VersionSource[];
}

/** A change of a companion that visitors do not meet yet. */
export interface Draft {
  readonly companionId: string;
  readonly patch: Partial<VersionSettings>;
  /** The live values of the same fields when the draft began. */
  readonly base: Partial<VersionSettings>;
  /** The companion's version when the draft began. */
  readonly beganVersion: number;
  readonly createdAt: number;
  /** Another moment each time it is put, which distinguishes its versions. */
  readonly updatedAt: number;
}

/** What a file last set of a companion, so that what others change since is found. */
export interface AppliedRecord {
  /** Whose member the companion is. */
  readonly set: string;
  /** By wire names. */
  readonly fields: Readonly<Record<string, JsonValue>>;
  /** By name; null if the list was not named, which an empty one was. */
  readonly tools: Readonly<Record<string, JsonValue>> | null;
  /** By slug; likewise. */
  readonly sources: Readonly<Record<string, JsonValue>> | null;
  /** Whether it was disabled because the set no longer names it. */
  readonly isPruned: boolean;
  /** The companion's version after it was applied: filled in by the store. */
  readonly version: number;
  readonly appliedAt: number;
}
