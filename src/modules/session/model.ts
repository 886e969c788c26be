/** Sign-in, one-time links and sessions on the wire. */
import { type Static, Type as t } from "@sinclair/typebox";
import { type Account, type Scope, scopes } from "../../domain/account.ts";
import { AccountObject, emailText, newPasswordText, toWireAccount } from "../../http/account-schema.ts";
import { listOf } from "../../http/list-schema.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import type { Services } from "../../http/services.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { Session } from "../../store/store.ts";

type FactServices = Pick<Services, "settings" | "llm" | "voice">;

const closed = { additionalProperties: false };
const givenPassword = Text({
  maxLength: 1024,
  description: "The password.",
  examples: ["correct horse battery staple"],
});
const linkSecret = Text({ maxLength: 200, description: "The part of the link after `#`.", examples: ["3mN0pQ…"] });

export const SignIn = t.Object(
  {
    email: Text({
      maxLength: 1024,
      description: "The account's address, in any case.",
      examples: ["owner@shop.example"],
    }),
    password: givenPassword,
  },
  { $id: "SignIn", ...closed },
);
export type SignIn = Static<typeof SignIn>;
export const signInBody = compileChecker(SignIn);

export const SetUp = t.Object(
  { secret: linkSecret, email: emailText, password: newPasswordText },
  { $id: "SetUp", ...closed },
);
export type SetUp = Static<typeof SetUp>;
export const setUpBody = compileChecker(SetUp);

export const PasswordReset = t.Object(
  { secret: linkSecret, password: newPasswordText },
  { $id: "PasswordReset", ...closed },
);
export type PasswordReset = Static<typeof PasswordReset>;
export const passwordResetBody = compileChecker(PasswordReset);

export const PasswordChange = t.Object(
  { current_password: givenPassword, new_password: newPasswordText },
  { $id: "PasswordChange", ...closed },
);
export type PasswordChange = Static<typeof PasswordChange>;
export const passwordChangeBody = compileChecker(PasswordChange);

export const SessionObject = t.Object(
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

export const ServerFacts = t.Object(
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

export const SignedIn = t.Object(
  {
    account: AccountObject,
    scopes: t.Array(t.Union(scopes.map((scope) => t.Literal(scope))), { description: "What it may do." }),
    session: SessionObject,
    server: ServerFacts,
  },
  { $id: "SignedIn" },
);

export function toWireSession(session: Session, currentId: string) {
  return {
    id: session.id,
    user_agent: session.userAgent,
    ip: session.ipPrefix,
    is_current: session.id === currentId,
    created_at: toRfc3339(session.createdAt),
    last_used_at: toRfc3339(session.lastUsedAt),
    expires_at: toRfc3339(session.expiresAt),
  };
}

export function toWireServer({ settings, llm, voice }: FactServices, account: Account, baseUrl: string) {
  return {
    version: settings.version,
    base_url: baseUrl,
    is_demo_llm: llm.name === "demo",
    default_model: settings.llm.model,
    models: settings.llm.models,
    max_output_tokens: settings.llm.maxOutputTokens,
    has_voice_provider: voice.providerName !== "none",
    daily_messages: settings.dailyMessages[account.plan],
  };
}

export interface SignedInFacts {
  account: Account;
  session: Session;
  scopes: readonly Scope[];
  server: ReturnType<typeof toWireServer>;
}

export function toWireSignedIn({ account, session, scopes: granted, server }: SignedInFacts) {
  return { account: toWireAccount(account), scopes: granted, session: toWireSession(session, session.id), server };
}
