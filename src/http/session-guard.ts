/** The dashboard's guard: for routes that no API key may use, whatever its scopes. */
import { AppError } from "../domain/errors.ts";
import { openPrincipal, type PrincipalDependencies } from "./principal-guard.ts";
import type { HeaderBag } from "./problem.ts";
import type { OpenedSession } from "./session-cookie.ts";

/**
 * Admits a request with the dashboard's cookie; throws 401, or 403 for an API key. `maySetUp` as for `openPrincipal`.
 */
export async function openSession(
  dependencies: PrincipalDependencies,
  request: Request,
  headers: HeaderBag,
  options: { maySetUp?: boolean } = {},
): Promise<OpenedSession> {
  const principal = await openPrincipal(dependencies, request, null, headers, options);
  if (principal.sessionId !== null) return principal;
  throw new AppError("insufficient_scope", "This belongs to the dashboard: sign in. API keys cannot do it.");
}

/** The same, only for operators. */
export async function openOperator(
  dependencies: PrincipalDependencies,
  request: Request,
  headers: HeaderBag,
): Promise<OpenedSession> {
  const principal = await openSession(dependencies, request, headers);
  if (principal.account.role === "operator") return principal;
  throw new AppError("insufficient_scope", "Only an operator may do this.");
}
