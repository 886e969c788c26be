/** What the session routes answer, for the API document alone. */
import { Type as t } from "@sinclair/typebox";
import { scopes } from "../../domain/account.ts";
import { AccountObject } from "../../http/account-answer.ts";
import { listOf } from "../../http/list-schema.ts";
import { Nullable } from "../../http/schema.ts";

const SessionObject = t.Object(
  {
    id: t.String({ format: "uuid" }),
    user_agent: Nullable(
      t.String({ description: "The browser, as it called itself at sign-in.", examples: ["Mozilla/5.0"] }),
    ),
    ip: Nullable(
      t.String({ description: "Where the sign-in came from, cut to its network.", examples: ["192.0.2.0/24"] }),
    ),
    is_current: t.Boolean({ description: "Whether this request was made with it." }),
    created_at: t.String({ format: "date-time" }),
    last_used_at: t.String({ format: "date-time", description: "To the minute." }),
    expires_at: t.String({ format: "date-time", description: "Its end, used or not." }),
  },
  { $id: "Session" },
);

export const SessionList = listOf(SessionObject, "SessionList");

const ServerFacts = t.Object(
  {
    version: t.String(),
    base_url: t.String({ description: "The address in snippets and links.", examples: ["https://companions.example"] }),
    is_demo_llm: t.Boolean({
      description: "True while the built-in demo answers, as no language model is configured.",
    }),
    default_model: t.String({ description: "For companions that name none." }),
    models: t.Array(t.String(), { description: "What companions may ask for." }),
    max_output_tokens: t.Integer({ description: "The bound of every reply." }),
    has_voice_provider: t.Boolean({ description: "Whether companions with a voice can speak." }),
    daily_messages: t.Integer({ description: "Messages a day of each of the account's companions." }),
  },
  { $id: "ServerFacts" },
);

const held = (description: string) =>
  t.Object({ used: t.Integer({ examples: [12] }), limit: t.Integer({ examples: [10_000] }) }, { description });

const HoldingsObject = t.Object(
  {
    companions: held("Companions."),
    api_keys: held("API keys that are not revoked; expired ones count."),
    bytes: held("What the companions take up as stored; visitors' words are not counted."),
    embed_tokens: t.Integer({ description: "Embed tokens that each companion may have." }),
  },
  { $id: "Holdings", description: "What the account holds, and may hold on its plan." },
);

export const SignedIn = t.Object(
  {
    account: AccountObject,
    scopes: t.Array(t.Union(scopes.map((scope) => t.Literal(scope))), { description: "What it may do." }),
    session: SessionObject,
    server: ServerFacts,
    holdings: HoldingsObject,
  },
  { $id: "SignedIn" },
);
