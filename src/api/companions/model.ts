/** What owners send to companions. */
import { type Static, Type as t } from "@sinclair/typebox";
import { nameText, slugText } from "../../http/schemas/name.ts";
import { compileBody, compileChecker, Nullish } from "../../http/schemas/schema.ts";
import { companionFields } from "./fields.ts";

export const companionSlug = () =>
  slugText("What files call it, unique in the account: otherwise 409 `conflict`. Not set: no file does.", "support");

export const newCompanionBody = compileChecker(() => {
  const { name, sent } = companionFields();
  return t.Object(
    { name, slug: Nullish(companionSlug()), ...sent },
    {
      $id: "NewCompanion",
      additionalProperties: false,
      description: "A companion to create; only the name is required.",
    },
  );
});

export const companionPatchBody = compileChecker(() => {
  const { name, sent } = companionFields();
  return t.Object(
    { name: t.Optional(name), slug: Nullish(companionSlug()), ...sent },
    {
      $id: "CompanionPatch",
      additionalProperties: false,
      description: "The fields to change; `null` clears one, `metadata` is replaced as a whole.",
    },
  );
});
export type SentSettings = Static<typeof companionPatchBody.schema>;

export const newEmbedTokenBody = compileBody("NewEmbedToken", () => ({
  name: Nullish(nameText("Where it is used.", "Landing page")),
}));

export type NewEmbedTokenBody = Static<typeof newEmbedTokenBody.schema>;
