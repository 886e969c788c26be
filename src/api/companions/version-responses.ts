/** Versions and drafts on the wire: their schemas, and the conversion into them. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Companion as StoredCompanion } from "../../domain/companion.ts";
import { type CompanionVersion, changeVias, type Draft, type VersionFacts } from "../../domain/version.ts";
import { closedObject, instant, namedObject } from "../../http/schemas/named-object.ts";
import { anyValue, Nullable, OneOf } from "../../http/schemas/schema.ts";
import { shownToolFields } from "../../http/schemas/tool-fields.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { CompanionObject, makeSettingsFields } from "./responses.ts";
import { toWireNames, toWireSource, toWireTool, toWireWhole } from "./version-changes.ts";

export const makeNumber = (description: string) => t.Integer({ minimum: 1, description, examples: [7] });

const makeFacts = () => ({
  number: makeNumber("Counts the companion's versions from 1."),
  created_at: instant("When it was made."),
  actor: Nullable(
    t.Object(
      {
        type: OneOf(["key", "session", "cli"] as const),
        id: Nullable(t.String({ description: "Of the key or the session." })),
        name: Nullable(t.String({ description: "The key's name, or the e-mail address, at that time." })),
      },
      { description: "Who made the change; null where that is not known." },
    ),
  ),
  via: Nullable(OneOf(changeVias, { description: "How it was made; null for the first of a companion." })),
  note: Nullable(t.String({ description: "`X-Change-Note` of the change.", examples: ["New opening hours"] })),
  changed: t.Array(t.String(), {
    description: "The fields that are not as before, `tools` and `sources` for these.",
    examples: [["system_prompt", "tools"]],
  }),
});

export const VersionObject = closedObject("CompanionVersion", makeFacts);

const makeSource = () =>
  t.Object({
    id: t.String({ format: "uuid" }),
    title: t.String(),
    content_hash: Nullable(t.String({ description: "SHA-256 of the text, hex; null where none was read yet." })),
  });

export const WholeVersionObject = closedObject("WholeCompanionVersion", () => ({
  ...makeFacts(),
  settings: t.Object(makeSettingsFields(), { description: "All fields, as they were." }),
  tools: t.Array(t.Object(shownToolFields()), { description: "As they were, without what is secret." }),
  sources: t.Array(makeSource(), { description: "Without their content." }),
}));

export const VersionDiffObject = closedObject("VersionDiff", () => ({
  changes: t.Array(
    t.Object({
      field: t.String({ description: "A field, `tools` or `sources`.", examples: ["system_prompt"] }),
      from: anyValue("As it is in this version."),
      to: anyValue("As it is in the other one."),
    }),
  ),
}));

export const RestoredObject = namedObject("RestoredCompanion", () => ({
  ...CompanionObject.properties,
  missing_sources: t.Array(makeSource(), { description: "Sources of the version that the companion has no more." }),
  new_tools: t.Array(
    t.Object({
      id: t.String({ format: "uuid" }),
      name: t.String(),
      header_names: t.Array(t.String(), {
        description: "Headers that it had, and has no more: their values are secret.",
      }),
    }),
    {
      description:
        "Tools that were gone. Each has a new secret, which rotating it shows, and none of its headers: send these again.",
    },
  ),
}));

export const DraftObject = namedObject("CompanionDraft", () => ({
  ...makeSettingsFields(),
  changed: t.Array(t.String(), {
    description: "The fields that publishing would change.",
    examples: [["system_prompt"]],
  }),
  conflicts: t.Array(t.String(), { description: "Those of them that were changed live since the draft began." }),
  began_version: makeNumber("The version that was live when it began."),
  updated_at: instant("When it was put last."),
}));

export const SetFactsObject = closedObject("CompanionSetFacts", () => ({
  set: Nullable(
    t.String({ description: "The set that applied it last; null where no files do.", examples: ["default"] }),
  ),
  fields: t.Array(t.String(), {
    description:
      "What the files name: fields, `tools.<name>` and `sources.<slug>`. A change elsewhere is drift to them.",
    examples: [["system_prompt", "tools.find_order"]],
  }),
  applied_at: Nullable(instant("When it was applied last.")),
}));

export type WireVersion = Static<typeof VersionObject>;
export type WireWholeVersion = Static<typeof WholeVersionObject>;
export type WireDiff = Static<typeof VersionDiffObject>;
export type WireRestored = Static<typeof RestoredObject>;
export type WireDraft = Static<typeof DraftObject>;
export type WireSetFacts = Static<typeof SetFactsObject>;

export function toWireVersion({ number, createdAt, actor, via, note, changed }: VersionFacts): WireVersion {
  return { number, created_at: toRfc3339(createdAt), actor, via, note, changed: [...changed] };
}

export function toWireWholeVersion(version: CompanionVersion) {
  return {
    ...toWireVersion(version),
    settings: toWireWhole(version.settings),
    tools: version.tools.map(toWireTool),
    sources: version.sources.map(toWireSource),
  };
}

/** The companion as its draft would make it. `conflicts`: see `listConflicts`. */
export function toWireDraft(companion: StoredCompanion, draft: Draft, conflicts: string[]) {
  return {
    ...toWireWhole({ ...companion, ...draft.patch }),
    changed: toWireNames(draft.patch),
    conflicts,
    began_version: draft.beganVersion,
    updated_at: toRfc3339(draft.updatedAt),
  };
}

/** What the draft's `ETag` stands for: live changes are no other draft. */
export function toDraftTag({ companionId, updatedAt }: Draft): object {
  return { id: companionId, updated_at: updatedAt };
}
