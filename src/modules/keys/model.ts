/** API keys on the wire: never the key itself, which only the answer to its creation adds. */
import { Type as t } from "@sinclair/typebox";
import { type ApiKey, scopes } from "../../domain/account.ts";
import { nameText } from "../../http/name-text.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const instantPattern = "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$";

export const newKeyBody = compileChecker(() =>
  t.Object(
    {
      name: nameText("What the key is for.", "billing server"),
      scopes: t.Array(t.Union(scopes.map((scope) => t.Literal(scope))), {
        minItems: 1,
        maxItems: 100,
        description: "What the key may do. A key cannot give a scope that it lacks.",
        examples: [["companions:read", "companions:write"]],
      }),
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
  ),
);

export const readOnlyKeyFields = ["id", "key", "start", "last_used_at", "requests", "created_at"] as const;

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
