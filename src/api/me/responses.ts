/** The response of `GET /api/me`: its schema for the API document, created on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { plans, scopes } from "../../domain/account.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";

const makeScopes = (description: string) => t.Array(OneOf(scopes), { description, examples: [["companions:read"]] });
const makePlan = () => OneOf(plans);
const exampleId = "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10";

export const MeObject = namedObject("Me", () => ({
  key: Nullable(
    t.Object(
      {
        id: t.String({ format: "uuid", examples: [exampleId] }),
        name: t.String({ examples: ["billing server"] }),
        start: t.String({ description: "Its first characters.", examples: ["cmp_live_4fQ0"] }),
        scopes: makeScopes("As in `scopes`."),
        expires_at: Nullable(t.String({ format: "date-time" })),
      },
      { description: "Null for the dashboard." },
    ),
  ),
  scopes: makeScopes("What the caller may do."),
  account: t.Object({ id: t.String({ format: "uuid", examples: [exampleId] }), plan: makePlan() }),
  plan: makePlan(),
  limits: t.Object(
    {
      requests_per_minute: t.Integer({ description: "Of this key, or of the dashboard's session.", examples: [600] }),
      chats_per_minute: Nullable(
        t.Integer({ description: "Of this key, beside its other requests. Null for the dashboard.", examples: [600] }),
      ),
      visitor_messages_per_minute: Nullable(
        t.Integer({ description: "Of these, of one visitor of a companion. Null for the dashboard.", examples: [10] }),
      ),
      daily_messages: t.Integer({ description: "Of each companion, in a UTC day.", examples: [1000] }),
      daily_voice_sessions: t.Integer({ description: "Of each companion, in a UTC day.", examples: [200] }),
      max_output_tokens: t.Integer({ description: "Of every reply.", examples: [4096] }),
      companions: t.Integer({ description: "What the account may hold.", examples: [10_000] }),
      api_keys: t.Integer({ description: "What the account may hold.", examples: [100] }),
      embed_tokens: t.Integer({ description: "What each companion may have.", examples: [20] }),
      bytes: t.Integer({ description: "What the account may hold.", examples: [1_073_741_824] }),
    },
    { description: "By the account's plan and the server's settings." },
  ),
  spending_stopped: t.Boolean({
    description: "True while the operator has stopped all spending of the account, or of all accounts: chats are 503.",
  }),
}));
export type Me = Static<typeof MeObject>;
