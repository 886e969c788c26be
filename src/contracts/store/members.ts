/** Members of accounts: invited, joined, changed and removed. How they sign in is part of `sessions.ts`. */
import type { Member } from "../../domain/member.ts";
import type { OneTimeLink } from "./sessions.ts";
import type { WriteContext } from "./write-context.ts";

export type NewMember = Pick<Member, "id" | "email" | "name" | "role" | "companionIds"> & { name: string };

/** Of the account's own sign-in, only `name` and `notify` are ever changed. */
export type MemberPatch = Partial<Pick<NewMember, "name" | "role" | "companionIds"> & Pick<Member, "notify">>;

/** Is given the member inside the transaction, and may throw: then nothing changes. */
export type MemberCheck = (current: Member) => void;

export interface MemberStore {
  /**
   * With the link that invites them. Rejects with `limit_reached` beyond the account's holdings, in which its own sign-in does not count. The address may
   * be any: whether it signs in already is decided when the invitation is spent. Audit: `member.create`.
   */
  create(accountId: string, member: NewMember, invitation: OneTimeLink, context: WriteContext): Promise<void>;
  /** The account's own sign-in first, under the account's id; then the others in the order of their ids. Empty without the account. */
  list(accountId: string): Promise<Member[]>;
  /** By its id, which is the account's for its own sign-in. */
  find(accountId: string, id: string): Promise<Member | null>;
  /**
   * Holds from the next request on: `getChangeMark` of companions moves. Null if absent. Audit: `member.update` with the
   * names of the fields.
   */
  update(
    accountId: string,
    id: string,
    patch: MemberPatch,
    context: WriteContext,
    check?: MemberCheck,
  ): Promise<Member | null>;
  /**
   * Removes the member with sessions, links, recovery codes, mail and presence, in one commit; conversations that were
   * assigned to them are no one's. Those that they have taken stay until they are released. False if absent; the account's
   * own sign-in is never removed. Audit: `member.delete`.
   */
  remove(accountId: string, id: string, context: WriteContext, check?: MemberCheck): Promise<boolean>;
}
