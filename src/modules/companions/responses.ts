/** What the companions' routes answer, for the API document alone. */
import { Type as t } from "@sinclair/typebox";
import { newCompanionSettings } from "../../domain/companion.ts";
import { Nullable } from "../../schemas/schema.ts";
import { companionFields, toWireSettings } from "./fields.ts";

const id = t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] });
const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

const { name, settings } = companionFields();
const unset = toWireSettings(newCompanionSettings(""));
const shown = Object.fromEntries(
  Object.entries(settings).map(([wire, schema]) => {
    return [wire, unset[wire as keyof typeof settings] === null ? Nullable(schema) : schema];
  }),
);

export const CompanionObject = t.Object(
  {
    id,
    name,
    ...shown,
    embed_token: Nullable(
      t.String({
        description: "The oldest embed token that is still valid; null when all were revoked.",
        examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
      }),
    ),
    created_by_key_id: Nullable(t.String({ description: "The API key that made it; null: the dashboard or the CLI." })),
    created_at: instant("When it was made."),
    updated_at: instant("When it was last changed."),
  },
  { $id: "Companion", additionalProperties: false },
);

export const EmbedTokenObject = t.Object(
  {
    id,
    token: t.String({
      description: "Goes into the page; opens this one companion.",
      examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
    }),
    name: Nullable(t.String()),
    created_at: instant("When it was made."),
    last_used_at: Nullable(instant("When it last opened the companion; kept to the second.")),
  },
  { $id: "EmbedToken", additionalProperties: false },
);
