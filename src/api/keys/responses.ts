/** Responses of the API key routes: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { newKeyBody } from "./model.ts";

const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

const id = (description: string) =>
  t.String({ format: "uuid", description, examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] });

function makeShownFields() {
  const { properties: sent } = newKeyBody.schema;
  return {
    id: t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }),
    name: sent.name,
    start: t.String({ description: "The key's first characters, to tell keys apart.", examples: ["cmp_live_4fQ0"] }),
    last_four: Nullable(
      t.String({ description: "Its last four; null for keys from before these were stored.", examples: ["9uGa"] }),
    ),
    scopes: sent.scopes,
    expires_at: Nullable(instant("When it expires; null: never.")),
    last_used_at: Nullable(instant("The last management call made with it; to the second.")),
    requests: t.Integer({ description: "Management calls made with it." }),
    created_by_key_id: Nullable(
      id(
        "The key that created it: it ends no later than that key, unless it has taken its place, and is revoked with it; null: " +
          "the dashboard or a command.",
      ),
    ),
    replaced_by_key_id: Nullable(id("After a rotation: the key that replaced it.")),
    replaced_at: Nullable(instant("When that was.")),
    created_at: instant("When it was created."),
  };
}

export const KeyObject = namedObject("ApiKey", makeShownFields, { additionalProperties: false });

export const NewKeyObject = namedObject(
  "NewApiKeyAnswer",
  () => ({
    ...makeShownFields(),
    key: t.Optional(
      t.String({
        description: "The whole key, shown this once; a replay by `Idempotency-Key` comes without it.",
        examples: ["cmp_live_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
      }),
    ),
  }),
  { additionalProperties: false },
);
export type ApiKey = Static<typeof KeyObject>;
export type NewApiKey = Static<typeof NewKeyObject>;
