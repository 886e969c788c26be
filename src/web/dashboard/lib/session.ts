/** Who is signed in: one signal for the whole dashboard. */
import { ApiError, call, onSignedOut, onTotpRequired } from "./api.ts";
import { State, use } from "./state.ts";
import type { SignedIn } from "./types.ts";

/** Undefined until the server has been asked; null when nobody is signed in. */
export const session = new State<SignedIn | null | undefined>(undefined);
export const sessionFailure = new State<unknown>(null);

export async function loadSession(): Promise<void> {
  sessionFailure.value = null;
  try {
    session.value = await call<SignedIn>("GET", "/api/session");
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) session.value = null;
    else sessionFailure.value = error;
  }
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/api/session").catch((error: unknown) => {
    // Over already: that is what was wanted.
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  session.value = null;
}

/** For pages that are only drawn while someone is signed in. */
export function useSession(): SignedIn {
  const value = use(session);
  if (!value) throw new Error("Nobody is signed in.");
  return value;
}

/** The operator asks for a second factor, and the account has none: nothing else can be done before. */
export function mustSetUpTotp({ totp }: SignedIn): boolean {
  return totp.is_required && !totp.is_on;
}

onSignedOut(() => {
  session.value = null;
});

// What was loaded before knows nothing of it.
onTotpRequired(() => void loadSession());
