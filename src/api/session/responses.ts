/** Responses of the session routes: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { Session as StoredSession } from "../../contracts/store/store.ts";
import { scopes } from "../../domain/account.ts";
import { type Member, memberRoles } from "../../domain/member.ts";
import { recoveryCodeCount } from "../../domain/second-factor.ts";
import { AccountObject } from "../../http/schemas/account.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

export const SessionObject = namedObject("Session", () => ({
  id: t.String({ format: "uuid" }),
  user_agent: Nullable(
    t.String({ description: "How the browser identified itself at sign-in.", examples: ["Mozilla/5.0"] }),
  ),
  ip: Nullable(
    t.String({ description: "Where the sign-in came from, cut to its network.", examples: ["192.0.2.0/24"] }),
  ),
  is_current: t.Boolean({ description: "Whether this request was made with it." }),
  created_at: t.String({ format: "date-time" }),
  last_used_at: t.String({ format: "date-time", description: "To the minute." }),
  expires_at: t.String({ format: "date-time", description: "Its end, used or not." }),
}));
export type Session = Static<typeof SessionObject>;

const ServerFacts = namedObject("ServerFacts", () => ({
  version: t.String({
    description:
      "As in the API document: the version, and after a plus sign what distinguishes its document from others.",
    examples: ["1.0.0+3f2a91c4d5e6"],
  }),
  base_url: t.String({
    description: "The address in snippets and links.",
    examples: ["https://companions.example"],
  }),
  is_demo_llm: t.Boolean({
    description: "True while the built-in demo replies, because no language model is configured.",
  }),
  default_model: t.String({ description: "For companions without a model of their own." }),
  models: t.Array(t.String(), { description: "The models that companions may choose." }),
  max_output_tokens: t.Integer({ description: "The upper limit of every reply." }),
  has_voice_provider: t.Boolean({ description: "Whether companions with a voice can speak." }),
  has_prices: t.Boolean({ description: "Whether the operator has set prices, so that usage has costs." }),
  daily_messages: t.Integer({ description: "Messages a day for each of the account's companions." }),
  demo_page: Nullable(
    t.String({
      description: "For operators, where the demo's companion is, which is none of their own; null without the demo.",
    }),
  ),
}));

const held = (description: string) =>
  t.Object({ used: t.Integer({ examples: [12] }), limit: t.Integer({ examples: [10_000] }) }, { description });

const HoldingsObject = namedObject(
  "Holdings",
  () => ({
    companions: held("Companions."),
    api_keys: held("API keys that are not revoked; expired ones count."),
    bytes: held("Stored size of the companions; visitors' words are not counted."),
    embed_tokens: t.Integer({ description: "Embed tokens that each companion may have." }),
  }),
  { description: "How much the account holds, and may hold on its plan." },
);

const SpendingFacts = namedObject("SpendingFacts", () => ({
  is_stopped: t.Boolean({
    description: "Whether the operator has stopped what the account spends: no replies are made.",
  }),
  has_budgets: t.Boolean({ description: "Whether the account has budgets." }),
}));

const PeopleFacts = namedObject("PeopleFacts", () => ({
  are_used: t.Boolean({
    description: "Whether people can have to do with the account's conversations: a companion has `handoff`, or had.",
  }),
  has_mail: t.Boolean({ description: "Whether this server sends e-mail." }),
}));

const TotpFacts = namedObject("TotpFacts", () => ({
  is_on: t.Boolean({ description: "Whether signing in takes a second factor." }),
  is_required: t.Boolean({
    description: "Whether the operator requires one: until it is on, the session can only set it up.",
  }),
  recovery_codes_left: t.Integer({ minimum: 0 }),
}));

export const TotpSecret = namedObject("TotpSecret", () => ({
  secret: t.String({ description: "In base 32, for typing.", examples: ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"] }),
  otpauth_url: t.String({
    description: "The same for a QR code.",
    examples: [
      "otpauth://totp/companiond%20localhost:owner%40shop.example?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=companiond%20localhost&algorithm=SHA1&digits=6&period=30",
    ],
  }),
}));
export type TotpSecret = Static<typeof TotpSecret>;

export const RecoveryCodes = namedObject("RecoveryCodes", () => ({
  recovery_codes: t.Array(t.String(), {
    minItems: recoveryCodeCount,
    maxItems: recoveryCodeCount,
    examples: [Array(recoveryCodeCount).fill("k3m9-qx0w-7t2d-hn5p")],
    description: "Each signs in once if the app is not at hand. Only their hashes are stored.",
  }),
}));
export type RecoveryCodes = Static<typeof RecoveryCodes>;

const PersonObject = namedObject(
  "SignedInMember",
  () => ({
    id: t.String({ format: "uuid" }),
    name: t.String({ examples: ["Grace"] }),
    role: OneOf(memberRoles),
    companion_ids: Nullable(
      t.Array(t.String({ format: "uuid" }), { description: "The only companions that they see; null: all." }),
    ),
  }),
  { description: "The member who is signed in; null: the account's own sign-in." },
);

export function toWirePerson({ id, name, role, companionIds }: Member): Static<typeof PersonObject> {
  return { id, name: name ?? "", role, companion_ids: companionIds && [...companionIds] };
}

export const SignedIn = namedObject("SignedIn", () => ({
  account: AccountObject,
  member: Nullable(PersonObject),
  scopes: t.Array(OneOf(scopes), { description: "What it may do." }),
  session: SessionObject,
  totp: TotpFacts,
  server: ServerFacts,
  holdings: HoldingsObject,
  spending: SpendingFacts,
  people: PeopleFacts,
}));
export type SignedIn = Static<typeof SignedIn>;

export const PossiblySignedIn = namedObject("PossiblySignedIn", () => ({ signed_in: Nullable(SignedIn) }));
export type PossiblySignedIn = Static<typeof PossiblySignedIn>;

export const LinkObject = namedObject("OneTimeLink", () => ({
  kind: OneOf(["setup", "reset", "invitation"]),
  email: Nullable(
    t.String({ description: "Who signs in with it; null for a set-up link.", examples: ["owner@shop.example"] }),
  ),
  expires_at: t.String({ format: "date-time" }),
}));
export type LinkObject = Static<typeof LinkObject>;

export function toWireSession(session: StoredSession, currentId: string): Session {
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
