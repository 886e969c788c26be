/** What owners may do with the members of their account, and what with themselves. */
import type { MemberCheck, MemberPatch, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { SessionPrincipal } from "../../domain/account.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { AppError, type FieldError, invalidFields, missing, readId } from "../../domain/errors.ts";
import { beyondReach, coversReach, identityOf, type Member, personIdOf } from "../../domain/member.ts";
import { makeOneTimeLink } from "../../domain/one-time-link.ts";
import { omitReadOnly } from "../../http/schemas/named-object.ts";
import {
  type MemberPatchBody,
  memberPatchBody,
  newMemberBody,
  type OwnMemberPatchBody,
  ownMemberPatchBody,
} from "./model.ts";
import { MemberObject } from "./responses.ts";

type MemberServices = Pick<Services, "store" | "settings" | "clock" | "ids" | "log" | "people" | "live" | "mail">;

export async function prepareMember(
  services: MemberServices,
  principal: SessionPrincipal,
  { sent, baseUrl, nowMs }: { sent: unknown; baseUrl: string; nowMs: number },
) {
  const { email, name, role, companion_ids } = newMemberBody.check(omitReadOnly(sent, newMemberBody, MemberObject));
  const accountId = principal.account.id;
  const companionIds = await readCompanions(services, principal, companion_ids ?? null);
  const invited = { id: services.ids.uuid(), email: normalizeEmail(email) ?? "", name, role, companionIds };
  const unset = { notify: { mail: true, words: false }, totpConfirmedAt: null, joinedAt: null };
  const made: Member = { ...invited, ...unset, accountId, createdAt: nowMs };
  const { kept, path } = makeOneTimeLink(
    { kind: "invitation", accountId, memberId: made.id },
    services.ids,
    services.clock,
  );
  async function write(context: WriteContext): Promise<void> {
    await services.store.members.create(accountId, invited, kept, context);
    await mailLink(services, principal, made, { path, expiresAtMs: kept.expiresAt });
  }
  return { made, url: baseUrl + path, write };
}

/** Ends the member's link before this one. */
export async function makeMemberLink(
  services: MemberServices,
  principal: SessionPrincipal,
  { id, baseUrl, context }: { id: string; baseUrl: string; context: WriteContext },
) {
  const member = await getMember(services, principal, id);
  const accountId = principal.account.id;
  if (member.id === accountId) throw ownSignIn("gets its link from the operator, not from a member");
  requireReach(principal, member);
  const purpose = { kind: "invitation", accountId, memberId: member.id } as const;
  const { kept, path } = makeOneTimeLink(purpose, services.ids, services.clock);
  await services.store.sessions.createLink(kept, context);
  const link = { path, expiresAtMs: kept.expiresAt };
  await mailLink(services, principal, member, link);
  return { url: baseUrl + path, expiresAtMs: kept.expiresAt };
}

/** Where the server sends any, and knows where the link leads. What is made already is no failure without it. */
async function mailLink(
  { mail, settings, log }: MemberServices,
  { account, member }: SessionPrincipal,
  { id: memberId, accountId, email, joinedAt }: Member,
  link: { path: string; expiresAtMs: number },
): Promise<void> {
  if (settings.publicUrl === null) return;
  const isInvited = joinedAt === null;
  const content = { to: email, from: isInvited ? (member?.name ?? account.email) : email, ...link };
  const kind = isInvited ? "invitation" : "reset_link";
  const request = { accountId, memberId, kind, content, expiresAtMs: link.expiresAtMs } as const;
  await mail.send(request).catch((error: unknown) => log.warn("link of a member not mailed", { error }));
}

export async function getMember({ store }: MemberServices, { account }: SessionPrincipal, id: string): Promise<Member> {
  const member = await store.members.find(account.id, readId(id, "member"));
  if (member === null) throw missing("member");
  return member;
}

/** The person who is signed in. */
export function getSelf(services: MemberServices, principal: SessionPrincipal): Promise<Member> {
  return getMember(services, principal, personIdOf(identityOf(principal)));
}

export async function updateMember(
  services: MemberServices,
  principal: SessionPrincipal,
  current: Member,
  { sent, context }: { sent: unknown; context: WriteContext },
): Promise<Member> {
  const body = memberPatchBody.check(omitReadOnly(sent, memberPatchBody, MemberObject));
  const { name, role, companion_ids } = body;
  const patch: MemberPatch = {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(companion_ids === undefined
      ? {}
      : { companionIds: await readCompanions(services, principal, companion_ids, current.companionIds) }),
  };
  const check: MemberCheck = (member) => {
    requireReach(principal, member);
    refuseOwn(principal, member, body);
  };
  const updated = await update(services, current, patch, context, check);
  const { id: personId, companionIds } = updated;
  // What they no longer see they cannot release themselves.
  if (patch.companionIds && companionIds !== null) await services.people.releaseAll({ personId, but: companionIds });
  return updated;
}

export async function updateSelf(
  services: MemberServices,
  current: Member,
  { sent, context }: { sent: unknown; context: WriteContext },
): Promise<Member> {
  const { name, notify }: OwnMemberPatchBody = ownMemberPatchBody.check(
    omitReadOnly(sent, ownMemberPatchBody, MemberObject),
  );
  const patch: MemberPatch = {
    ...(name === undefined ? {} : { name }),
    ...(notify === undefined ? {} : { notify: { ...current.notify, ...notify } }),
  };
  return await update(services, current, patch, context);
}

async function update(
  { store }: MemberServices,
  current: Member,
  patch: MemberPatch,
  context: WriteContext,
  check?: MemberCheck,
): Promise<Member> {
  check?.(current);
  if (Object.keys(patch).length === 0) return current;
  const updated = await store.members.update(current.accountId, current.id, patch, context, check);
  if (updated === null) throw missing("member");
  return updated;
}

export async function removeMember(
  services: MemberServices,
  principal: SessionPrincipal,
  id: string,
  context: WriteContext,
): Promise<void> {
  const { account } = principal;
  const memberId = readId(id, "member");
  if (memberId === account.id) throw ownSignIn("cannot be removed");
  const check: MemberCheck = (member) => requireReach(principal, member);
  if (!(await services.store.members.remove(account.id, memberId, context, check))) throw missing("member");
  await services.people.releaseAll({ personId: memberId });
  services.live.notePresence(account.id);
  // Conversations that were assigned to them are no one's now.
  services.live.noteChanged({ accountId: account.id, conversationId: null });
}

/** Of another account, or out of the caller's own reach: the same fault. */
async function readCompanions(
  { store }: MemberServices,
  { account, member }: SessionPrincipal,
  sent: readonly string[] | null,
  before: readonly string[] | null = null,
): Promise<readonly string[] | null> {
  if (sent === null) {
    if (!coversReach(member, { companionIds: null })) throw beyondReach();
    return null;
  }
  const ids = [...new Set(sent.map((id) => id.toLowerCase()))];
  // Deleted ones, sent back as they were read, are no fault.
  const added = ids.filter((id) => !before?.includes(id));
  const found = await Promise.all(added.map((id) => store.companions.find(account.id, id)));
  if (found.some((companion) => companion === null)) {
    throw invalidFields([{ param: "companion_ids", detail: "Must be ids of the account's companions." }]);
  }
  return ids;
}

function requireReach({ member }: SessionPrincipal, other: Member): void {
  if (!coversReach(member, other)) throw beyondReach();
}

/** There must always be an owner, and no one gives themselves more than they were given. */
function refuseOwn(principal: SessionPrincipal, member: Member, { role, companion_ids }: MemberPatchBody): void {
  const isOwn = member.id === principal.account.id;
  if (!isOwn && member.id !== principal.member?.id) return;
  const detail = isOwn ? "Not for the account's own sign-in." : "Not for yourself: another owner can do it.";
  const errors: FieldError[] = [];
  if (role !== undefined && role !== member.role) errors.push({ param: "role", detail });
  if (companion_ids !== undefined && JSON.stringify(companion_ids) !== JSON.stringify(member.companionIds)) {
    errors.push({ param: "companion_ids", detail });
  }
  if (errors.length > 0) throw invalidFields(errors);
}

function ownSignIn(why: string): AppError {
  return new AppError("conflict", `The account's own sign-in ${why}.`);
}
