/** What is sent to `POST /api/apply`: companions as files have them. */
import { type Static, Type as t } from "@sinclair/typebox";
import { maxSources } from "../../../domain/knowledge.ts";
import { maxTools } from "../../../domain/tool.ts";
import { maxChangeNoteLength } from "../../../domain/version.ts";
import { slugText } from "../../../http/schemas/name.ts";
import { compileChecker, Nullish, OneOf, Text, uuidPattern } from "../../../http/schemas/schema.ts";
import { findBlank, refreshHours, sourceSlug, titleText, urlText } from "../../../http/schemas/source-fields.ts";
import { newToolBody } from "../../../http/schemas/tool-settings.ts";
import { companionFields } from "../fields.ts";
import { companionSlug } from "../model.ts";

export const maxCompanions = 250;
export const defaultSet = "default";
export const defaultPruneMax = 5;
export const pruneModes = ["off", "disable", "delete"] as const;
export type PruneMode = (typeof pruneModes)[number];

const closed = { additionalProperties: false };

const hash = (description: string) =>
  Text({ pattern: "^[0-9a-f]{64}$", problem: "Must be a SHA-256 in lower-case hex.", description });

const sourceFields = () =>
  t.Object(
    {
      slug: sourceSlug(),
      title: Nullish(titleText("What replies cite it as. Default: the slug; a page brings its own.")),
      text: t.Optional(
        Text({ minLength: 1, findProblem: findBlank, description: "Plain text or Markdown.", examples: ["# Returns"] }),
      ),
      url: t.Optional(urlText("A page or document that is read.", "https://shop.example/returns")),
      sitemap: t.Optional(urlText("A sitemap whose pages are read.", "https://shop.example/sitemap.xml")),
      refresh_hours: Nullish(refreshHours()),
      file_hash: t.Optional(
        hash("SHA-256 of the bytes of a file, in hex, which is then sent by the routes of sources, with this `slug`."),
      ),
      content_hash: t.Optional(
        Nullish(hash("Instead of content, as an export has it: the source stays as it is, and must be there.")),
      ),
    },
    {
      $id: "AppliedSource",
      ...closed,
      description: "With one of `text`, `url`, `sitemap`, `file_hash`, `content_hash`.",
    },
  );

const toolFields = () => {
  const { headers: _, ...fields } = newToolBody.schema.properties;
  return t.Object(fields, {
    $id: "AppliedTool",
    ...closed,
    description: "A tool without its secrets, which stay what they are on the server.",
  });
};

export const appliedCompanion = compileChecker(() => {
  const { name, sent } = companionFields();
  return t.Object(
    {
      slug: companionSlug(),
      adopt: t.Optional(
        Text({
          pattern: uuidPattern,
          problem: "Must be the id of a companion.",
          description: "The id of an existing companion that is given the slug, where no companion has it yet.",
        }),
      ),
      name: t.Optional(name),
      ...sent,
      tools: t.Optional(
        t.Array(toolFields(), {
          maxItems: maxTools,
          description: "All of its tools: those that it lacks are deleted.",
        }),
      ),
      sources: t.Optional(
        t.Array(sourceFields(), {
          maxItems: maxSources,
          description: "All of its sources that have a slug: those that it lacks are deleted; others are not touched.",
        }),
      ),
    },
    {
      $id: "AppliedCompanion",
      ...closed,
      description: "Fields that are left out stay as they are; `null` clears one.",
    },
  );
});
export type AppliedCompanion = Static<typeof appliedCompanion.schema>;
export type AppliedSource = NonNullable<AppliedCompanion["sources"]>[number];
export type AppliedTool = NonNullable<AppliedCompanion["tools"]>[number];

const options = () => ({
  set: Nullish(slugText("The set whose members these companions are.", defaultSet)),
  prune: Nullish(
    OneOf(pruneModes, {
      description: "What becomes of members of the set that are not among `companions`. Default: `off`, nothing.",
    }),
  ),
  prune_max: Nullish(
    t.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: `More than these are not pruned. Default: ${defaultPruneMax}.`,
    }),
  ),
  overwrite: Nullish(
    t.Boolean({ description: "Also where someone else changed what is named, or another set holds it." }),
  ),
  dry_run: Nullish(t.Boolean({ description: "Only answers what would change." })),
  note: Nullish(
    Text({
      maxLength: maxChangeNoteLength,
      description: "Why, for the list of versions.",
      examples: ["Autumn prices"],
    }),
  ),
});

export const applyBody = compileChecker(() =>
  t.Object(
    { ...options(), companions: t.Array(appliedCompanion.schema, { maxItems: maxCompanions }) },
    { $id: "Apply", ...closed },
  ),
);

/** The same with companions that are checked one by one, since a list of faults is cut. */
export const applyEnvelope = compileChecker(() =>
  t.Object({ ...options(), companions: t.Array(t.Unknown(), { maxItems: maxCompanions }) }, closed),
);
