/** The dashboard's cookie as a principal. */
import type { Principal } from "../domain/account.ts";
import type { PrincipalDoor } from "./principal-guard.ts";

/** Null where the request carries no cookie of a session that may go on. */
export async function findSessionPrincipal(_door: PrincipalDoor, _request: Request): Promise<Principal | null> {
  return null;
}
