/** Sign-in, one-time links and sessions on the wire. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Session, SignInAccess } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { type Account, scopesOf } from "../../domain/account.ts";
import { identityOf } from "../../domain/member.ts";
import { noPrices } from "../../domain/prices.ts";
import { mustHaveTotp } from "../../domain/second-factor.ts";
import { findDemoToken } from "../../http/first-steps.ts";
import { emailText, newPasswordText, toWireAccount } from "../../http/schemas/account.ts";
import { compileBody, Text } from "../../http/schemas/schema.ts";
import { type SignedIn, toWirePerson, toWireSession } from "./responses.ts";

type FactServices = Pick<Services, "settings" | "llm" | "voice">;

function givenPassword() {
  return Text({ maxLength: 1024, description: "The password.", examples: ["correct horse battery staple"] });
}

function givenCode() {
  return Text({
    maxLength: 64,
    description: "Where the account has a second factor: the code of the moment, or a recovery code, once.",
    examples: ["492039"],
  });
}

function linkSecret() {
  return Text({ maxLength: 200, description: "The part of the link after `#`.", examples: ["3mN0pQ…"] });
}

export const signInBody = compileBody("SignIn", () => ({
  email: Text({
    maxLength: 1024,
    description: "The account's address, in any case.",
    examples: ["owner@shop.example"],
  }),
  password: givenPassword(),
  totp: t.Optional(givenCode()),
}));
export type SignIn = Static<typeof signInBody.schema>;

export const setUpBody = compileBody("SetUp", () => ({
  secret: linkSecret(),
  email: emailText(),
  password: newPasswordText(),
}));
export type SetUp = Static<typeof setUpBody.schema>;

export const linkBody = compileBody("LinkSecret", () => ({ secret: linkSecret() }));

const chosenPassword = () => ({
  secret: linkSecret(),
  password: newPasswordText(),
  totp: t.Optional(givenCode()),
});
export const passwordResetBody = compileBody("PasswordReset", chosenPassword);
export const invitationBody = compileBody("Invitation", chosenPassword);
export type PasswordReset = Static<typeof passwordResetBody.schema>;

export const passwordChangeBody = compileBody("PasswordChange", () => ({
  current_password: givenPassword(),
  new_password: newPasswordText(),
}));
export type PasswordChange = Static<typeof passwordChangeBody.schema>;

export const totpConfirmBody = compileBody("TotpConfirmation", () => ({
  code: Text({ maxLength: 64, description: "The code that the app shows.", examples: ["492039"] }),
}));

export const totpRemovalBody = compileBody("TotpRemoval", () => ({ password: givenPassword() }));

function toWireServer(
  { settings, llm, voice }: FactServices,
  account: Account,
  baseUrl: string,
  demoToken: string | null,
) {
  return {
    version: settings.apiStamp === null ? settings.version : `${settings.version}+${settings.apiStamp}`,
    base_url: baseUrl,
    is_demo_llm: llm.name === "demo",
    default_model: settings.llm.model,
    models: [...settings.llm.models],
    max_output_tokens: settings.llm.maxOutputTokens,
    has_voice_provider: voice.providerName !== "none",
    has_prices: settings.prices !== noPrices,
    daily_messages: settings.dailyMessages[account.plan],
    demo_page: demoToken === null ? null : `/c/${demoToken}`,
  };
}

/** How much the account holds, and may hold. */
async function readWireHoldings({ store, settings }: Pick<Services, "store" | "settings">, account: Account) {
  const { companions = 0, keys = 0, bytes = 0 } = (await store.accounts.findHeld(account.id)) ?? {};
  const limits = settings.holdings[account.plan];
  return {
    companions: { used: companions, limit: limits.companions },
    api_keys: { used: keys, limit: limits.keys },
    bytes: { used: bytes, limit: limits.bytes },
    embed_tokens: limits.tokensPerCompanion,
  };
}

async function readWireSpending({ store, clock }: Pick<Services, "store" | "clock">, account: Account) {
  const newest = await store.spending.listBudgets(account.id, { limit: 1, afterId: null }, clock.nowMs());
  return {
    is_stopped: (await store.spending.findStop(account.id)) !== null,
    has_budgets: newest.items.length > 0,
  };
}

/** Does not query the store for people without a second factor. */
async function describeTotp({ settings, store }: Pick<Services, "settings" | "store">, access: SignInAccess) {
  const { account } = access;
  const factor = account.totpConfirmedAt === null ? null : await store.secondFactors.find(identityOf(access));
  return {
    is_on: account.totpConfirmedAt !== null,
    is_required: mustHaveTotp(settings.requireTotp, account),
    recovery_codes_left: factor?.recoveryCodesLeft ?? 0,
  };
}

/** Who is signed in, what they may do, and how much is left of it. */
export async function readWireSignedIn(
  services: Services,
  access: SignInAccess,
  session: Session,
  baseUrl: string,
): Promise<SignedIn> {
  const { account, member } = access;
  // It belongs to an account that no one signs in to: the operator would search for it in vain.
  const demoToken = account.role === "operator" ? await findDemoToken(services) : null;
  return {
    account: toWireAccount(account),
    member: member && toWirePerson(member),
    scopes: [...scopesOf(member)],
    session: toWireSession(session, session.id),
    totp: await describeTotp(services, access),
    server: toWireServer(services, account, baseUrl, demoToken),
    holdings: await readWireHoldings(services, account),
    spending: await readWireSpending(services, account),
    people: { are_used: await services.store.handoffs.areUsed(account.id), has_mail: services.mail.isOn },
  };
}
