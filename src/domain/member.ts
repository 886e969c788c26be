/** Members: people who sign in to an account beside its owner. */
import { AppError } from "./errors.ts";

export const memberRoles = ["owner", "responder"] as const;
/** A responder reads and answers visitors, and changes nothing else. */
export type MemberRole = (typeof memberRoles)[number];

export const maxMemberNameLength = 60;
/** Companions that a member can be limited to. */
export const maxMemberCompanions = 100;

export interface Member {
  /** The account's id for its own sign-in, which is listed with its members. */
  id: string;
  accountId: string;
  /** Lower case. Signs in once the member has joined, and only in one account. */
  email: string;
  /** Shown to visitors; null for an own sign-in that has none yet: they read the companion's. */
  name: string | null;
  role: MemberRole;
  /** Null: all of the account. */
  companionIds: readonly string[] | null;
  notify: { readonly mail: boolean; readonly words: boolean };
  totpConfirmedAt: number | null;
  /** When the invitation was accepted; null until then. */
  joinedAt: number | null;
  createdAt: number;
}

/** Who signs in: a member, or, with null, the account's own. */
export interface Identity {
  readonly accountId: string;
  readonly memberId: string | null;
}

/** The account's own sign-in. */
export const ownIdentity = (accountId: string): Identity => ({ accountId, memberId: null });

/** As which the person is listed. */
export const personIdOf = ({ accountId, memberId }: Identity): string => memberId ?? accountId;

/** Whom a session or a sign-in belongs to. */
export const identityOf = ({
  account,
  member,
}: {
  account: { id: string };
  member: { id: string } | null;
}): Identity => {
  return { accountId: account.id, memberId: member?.id ?? null };
};

/** Of the actor of a change. */
export function actingMember(signedIn: { member: Pick<Member, "id" | "name"> | null } | null) {
  const member = signedIn?.member ?? null;
  return member === null ? {} : { member: { id: member.id, name: member.name ?? "" } };
}

type Reach = Pick<Member, "companionIds"> | null;

export function reaches(member: Reach, companionId: string): boolean {
  return member === null || member.companionIds === null || member.companionIds.includes(companionId);
}

/** Whether a member sees all companions that another sees: no one hands out more than they have. */
export function coversReach(member: Reach, { companionIds }: Pick<Member, "companionIds">): boolean {
  if (member === null || member.companionIds === null) return true;
  return companionIds?.every((id) => reaches(member, id)) ?? false;
}

export function beyondReach(): AppError {
  return new AppError("insufficient_scope", "You see only some of the account's companions, and this concerns others.");
}
