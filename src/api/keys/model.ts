/** What is sent to create API keys. */
import { type Static, Type as t } from "@sinclair/typebox";
import { maxGraceSeconds, scopes } from "../../domain/account.ts";
import { nameText } from "../../http/schemas/name.ts";
import { compileBody, Nullish, OneOf, Text, uuidPattern } from "../../http/schemas/schema.ts";

const instantPattern = "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$";

export const newKeyBody = compileBody("NewApiKey", () => ({
  name: nameText("What the key is for.", "billing server"),
  scopes: t.Array(OneOf(scopes), {
    minItems: 1,
    maxItems: 100,
    description: "What the key may do. A key cannot grant a scope that it lacks.",
    examples: [["companions:read", "companions:write"]],
  }),
  expires_at: Nullish(
    Text({
      pattern: instantPattern,
      problem: "Must be an instant of RFC 3339, such as 2030-01-31T12:00:00Z, or null.",
      description:
        "When the key expires: an RFC 3339 instant in the future, no later than the end of the key that makes the " +
        "call. Not set: when that key ends, or never.",
      examples: ["2030-01-31T12:00:00Z"],
    }),
  ),
  replaces: Nullish(
    Text({
      pattern: uuidPattern,
      problem: "Must be the id of an API key, or null.",
      description:
        "The id of a key that this one replaces; it ends after `grace_seconds`, with all keys that it created. It may " +
        "be the key that makes the call, or one above that: then the new key is all that goes on. Budgets on the " +
        "old key are on the new one from then on.",
    }),
  ),
  grace_seconds: Nullish(
    t.Integer({
      minimum: 0,
      maximum: maxGraceSeconds,
      description:
        "Only with `replaces`, and then required: how long the old key still works; 0 revokes it immediately. It " +
        "never ends later than it would have otherwise.",
    }),
  ),
}));
export type NewKeyBody = Static<typeof newKeyBody.schema>;
