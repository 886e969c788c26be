/** What operators may do with accounts, and what they may not do with their own. */

import type { AccountPatch, VoiceAgentGrant, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { type Account, type Principal, plans, roles } from "../../domain/account.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { makeOneTimeLink } from "../../domain/one-time-link.ts";
import type { AccountPatchBody, NewAccountBody } from "./model.ts";

type AccountServices = Pick<Services, "store" | "clock" | "ids">;

export function prepareAccount(services: AccountServices, sent: NewAccountBody, nowMs: number) {
  const { email, plan = plans[0], role = roles[0] } = sent;
  const account = { id: services.ids.uuid(), email: normalizeEmail(email) ?? "", plan, role };
  const made: Account = { ...account, suspendedAt: null, totpConfirmedAt: null, createdAt: nowMs };
  const write = (context: WriteContext) => services.store.accounts.create({ ...account, passwordHash: null }, context);
  return { made, write };
}

export async function getAccount({ store }: AccountServices, id: string): Promise<Account> {
  const account = await store.accounts.findById(readId(id, "account"));
  if (account === null) throw missing("account");
  return account;
}

export async function updateAccount(
  services: AccountServices,
  principal: Principal,
  account: Account,
  sent: AccountPatchBody,
  context: WriteContext,
): Promise<Account> {
  if (account.id === principal.account.id) refuseOwn(sent);
  const patch: AccountPatch = {};
  if (sent.plan !== undefined) patch.plan = sent.plan;
  if (sent.role !== undefined) patch.role = sent.role;
  // Suspending twice keeps the first time.
  if (sent.suspended !== undefined) {
    patch.suspendedAt = sent.suspended ? (account.suspendedAt ?? services.clock.nowMs()) : null;
  }
  const updated = await services.store.accounts.update(account.id, patch, context);
  if (updated === null) throw missing("account");
  return updated;
}

export async function deleteAccount(
  services: AccountServices,
  principal: Principal,
  id: string,
  context: WriteContext,
): Promise<void> {
  const account = await getAccount(services, id);
  if (account.id === principal.account.id) {
    throw invalidFields([
      { param: "id", detail: "You are signed in with this account: another operator can delete it." },
    ]);
  }
  if (!(await services.store.accounts.delete(account.id, context))) throw missing("account");
}

/**
 * The path of a link with which the owner chooses a password; earlier links of the account become invalid. The owner gets it
 * by mail, too, where the server sends any and knows where it leads.
 */
export async function makeResetLink(
  services: AccountServices & Pick<Services, "settings" | "mail">,
  id: string,
  context: WriteContext,
): Promise<{ path: string; expiresAt: number }> {
  const account = await getAccount(services, id);
  const { kept, path } = makeOneTimeLink({ kind: "reset", accountId: account.id }, services.ids, services.clock);
  await services.store.sessions.createLink(kept, context);
  const { email } = account;
  const { expiresAt } = kept;
  if (services.settings.publicUrl !== null) {
    const content = { to: email, from: email, path, expiresAtMs: expiresAt };
    await services.mail.send({ accountId: id, kind: "reset_link", content, expiresAtMs: expiresAt });
  }
  return { path, expiresAt };
}

/** The voice agents that the account may use. */
export async function listGrants(services: AccountServices, id: string): Promise<VoiceAgentGrant[]> {
  return services.store.voiceAgentGrants.list((await getAccount(services, id)).id);
}

export async function revokeGrant(
  services: AccountServices,
  id: string,
  agentId: string,
  context: WriteContext,
): Promise<void> {
  const account = await getAccount(services, id);
  if ((await services.store.voiceAgentGrants.revoke(account.id, agentId, context)) === null) {
    throw missing("grant of a voice agent");
  }
}

/** There must always be an operator who can sign in. */
function refuseOwn(sent: AccountPatchBody): void {
  const detail = "Not for the account that you are signed in with: another operator can do it.";
  const errors: FieldError[] = [];
  if (sent.role !== undefined && sent.role !== "operator") errors.push({ param: "role", detail });
  if (sent.suspended === true) errors.push({ param: "suspended", detail });
  if (errors.length > 0) throw invalidFields(errors);
}

export async function prepareGrant({ store }: AccountServices, accountId: string, agentId: string, nowMs: number) {
  const companions = await store.voiceAgentGrants.countCompanions(accountId, agentId);
  const made: VoiceAgentGrant = { agentId, companions, createdAt: nowMs };
  return { made, write: (context: WriteContext) => store.voiceAgentGrants.grant(accountId, agentId, context) };
}
