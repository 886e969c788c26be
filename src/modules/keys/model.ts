/** API keys on the wire: never the key itself, which only the answer to its creation adds. */
import { Type as t } from "@sinclair/typebox";
import { type ApiKey, scopes } from "../../domain/account.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const name = Text({ minLength: 1, maxLength: 100, description: "What the key is for.", examples: ["billing server"] });
const scopeList = t.Array(t.Union(scopes.map((scope) => t.Literal(scope))), {
  minItems: 1,
  maxItems: 100,
  description: "What the key may do. A key cannot give a scope that it lacks.",
  examples: [["companions:read", "companions:write"]],
});
const instantPattern = "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$";

export const NewKeyBody = t.Object(
  {
    name,
    scopes: scopeList,
    expires_at: t.Optional(
      Nullable(
        Text({
          pattern: instantPattern,
          problem: "Must be an instant of RFC 3339, such as 2030-01-31T12:00:00Z, or null.",
          description: "An instant of RFC 3339 in the future, from which on the key is refused. Not set: never.",
          examples: ["2030-01-31T12:00:00Z"],
        }),
      ),
    ),
  },
  { $id: "NewApiKey", additionalProperties: false },
);
export const newKeyBody = compileChecker(NewKeyBody);

export const readOnlyKeyFields = ["id", "key", "start", "last_used_at", "requests", "created_at"] as const;

const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

const shownFields = {
  id: t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }),
  name,
  start: t.String({ description: "The key's first characters, to tell keys apart.", examples: ["cmp_live_4fQ0"] }),
  scopes: scopeList,
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

export function toWireKey(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    start: key.start,
    scopes: key.scopes,
    expires_at: key.expiresAt === null ? null : toRfc3339(key.expiresAt),
    last_used_at: key.lastUsedAt === null ? null : toRfc3339(key.lastUsedAt),
    requests: key.requests,
    created_at: toRfc3339(key.createdAt),
  };
}
