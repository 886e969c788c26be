/** API keys in responses: never the whole key, which only the response to the creation adds. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { ApiKey as StoredKey } from "../../domain/account.ts";
import { closedObject, instant } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { newKeyBody } from "./model.ts";

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
        "The key that created it: it ends no later than that key, unless it has replaced it, and is revoked with it; null: " +
          "the dashboard or a command.",
      ),
    ),
    replaced_by_key_id: Nullable(id("After a rotation: the key that replaced it.")),
    replaced_at: Nullable(instant("When that was.")),
    created_at: instant("When it was created."),
  };
}

export const KeyObject = closedObject("ApiKey", makeShownFields);

export const NewKeyObject = closedObject("NewApiKeyAnswer", () => ({
  ...makeShownFields(),
  key: t.Optional(
    t.String({
      description: "The whole key, shown this once; a replay by `Idempotency-Key` comes without it.",
      examples: ["cmp_live_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
    }),
  ),
}));
export type ApiKey = Static<typeof KeyObject>;
export type NewApiKey = Static<typeof NewKeyObject>;

export function toWireKey(key: StoredKey): ApiKey {
  return {
    id: key.id,
    name: key.name,
    start: key.start,
    last_four: key.lastFour,
    scopes: [...key.scopes],
    expires_at: toNullableRfc3339(key.expiresAt),
    last_used_at: toNullableRfc3339(key.lastUsedAt),
    requests: key.requests,
    created_by_key_id: key.createdByKeyId,
    replaced_by_key_id: key.replacedByKeyId,
    replaced_at: toNullableRfc3339(key.replacedAt),
    created_at: toRfc3339(key.createdAt),
  };
}
