/** Who is signed in, among the members. Not needed by the first load. */
import type { SignedIn } from "../lib/types.ts";

/** As the API names the person who is signed in, among the members. */
export function personIdOf({ account, member }: SignedIn): string {
  return member?.id ?? account.id;
}

export function isOwner({ member }: SignedIn): boolean {
  return member === null || member.role === "owner";
}
