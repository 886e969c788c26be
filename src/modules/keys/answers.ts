/** What the API keys' routes answer, for the API document alone. */
import { Type as t } from "@sinclair/typebox";
import { Nullable } from "../../http/schema.ts";
import { newKeyBody } from "./model.ts";

const { properties: sent } = newKeyBody.schema;
const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

const shownFields = {
  id: t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }),
  name: sent.name,
  start: t.String({ description: "The key's first characters, to tell keys apart.", examples: ["cmp_live_4fQ0"] }),
  scopes: sent.scopes,
  expires_at: Nullable(instant("From when on it is refused; null: never.")),
  last_used_at: Nullable(instant("The last management call made with it; kept to the second.")),
  requests: t.Integer({ description: "Management calls made with it." }),
  created_at: instant("When it was made."),
};

export const KeyObject = t.Object(shownFields, { $id: "ApiKey", additionalProperties: false });

export const NewKeyObject = t.Object(
  {
    ...shownFields,
    key: t.Optional(
      t.String({
        description: "The whole key, shown this once; a replay by `Idempotency-Key` comes without it.",
        examples: ["cmp_live_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
      }),
    ),
  },
  { $id: "NewApiKeyAnswer", additionalProperties: false },
);
