/** Who is signed in, in all tabs of the browser: one signal for the whole dashboard. */
import { ApiError, call, onRefused } from "./api.ts";
import { keep, recall } from "./browser-storage.ts";
import { hasUnsavedWork } from "./router.ts";
import { State, use } from "./state.ts";
import type { Budget, PossiblySignedIn, SignedIn } from "./types.ts";

const keptAs = "companiond:session";

/** What the server sent last time, so that a page is drawn before it responds. Nothing in it is secret. */
function readKept(): SignedIn | undefined {
  try {
    return JSON.parse(recall(keptAs) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** Undefined until it is known; null when no one is signed in. */
export const session = new State<SignedIn | null | undefined>(readKept());
session.onChange(() => {
  keep(keptAs, session.value ? JSON.stringify(session.value) : null);
});
/** Until the server has responded, what was kept may be over. */
let isConfirmed = false;

export const sessionFailure = new State<unknown>(null);

/**
 * Why the page cannot continue, although it stays open with everything typed: the session has ended, or the browser is
 * signed in as someone else, who must not get what was typed here.
 */
export const interruption = new State<{ kind: "ended" } | { kind: "replaced"; email: string } | null>(null);

/** Counts past interruptions: data that could not be loaded meanwhile can be loaded now. */
export const resumptions = new State(0);

/** What the navigation says of budgets that run out; empty while none does. */
export const budgetAlarm = new State("");
/** Those budgets, the worst first. */
export const alarmingBudgets = new State<readonly Budget[]>([]);

let readAtMs = Date.now();

const otherTabs = new BroadcastChannel("companiond-session");

export async function loadSession(): Promise<void> {
  sessionFailure.value = null;
  try {
    const { signed_in: made } = await call<PossiblySignedIn>("GET", "/api/session/current");
    if (made === null) return leave();
    session.value = made;
    isConfirmed = true;
  } catch (error) {
    sessionFailure.value = error;
  }
}

/** Reads again what an operator or another tab may have changed, unless that was done this recently. */
export async function refreshSession(minAgeMs = 0): Promise<void> {
  if (Date.now() - readAtMs < minAgeMs) return;
  readAtMs = Date.now();
  // What is known stays, if this fails; any other call shows that the session has ended.
  const made = await call<SignedIn>("GET", "/api/session").catch(() => null);
  if (made && session.value) takeOver(made);
}

/** At the sign-in page, where no page is open yet. */
export function enter(made: SignedIn): void {
  isConfirmed = true;
  session.value = made;
  otherTabs.postMessage(made);
}

/** In the dialog over a page: continues the page, unless this is another account. */
export function resume(made: SignedIn): void {
  takeOver(made);
  otherTabs.postMessage(made);
}

export async function signOut(): Promise<void> {
  await call("DELETE", "/api/session").catch((error: unknown) => {
    // The session is over already, which is the goal.
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  });
  leave();
  otherTabs.postMessage(null);
}

/** Goes to the sign-in page from any page. */
export function leave(): void {
  interruption.value = null;
  session.value = null;
}

/** For pages that are only drawn while someone is signed in. */
export function useSession(): SignedIn {
  const value = use(session);
  if (!value) throw new Error("No one is signed in.");
  return value;
}

/** As long as no companion lets people step in, there is nothing about them. */
export function hasInbox({ people, scopes }: SignedIn): boolean {
  return people.are_used && scopes.includes("conversations:reply");
}

/** The operator requires a second factor, and the account has none: nothing else can be done before. */
export function mustSetUpTotp({ totp }: SignedIn): boolean {
  return totp.is_required && !totp.is_on;
}

function takeOver(made: SignedIn): void {
  // Several people have one account, each with an address of their own.
  if (session.value && session.value.account.email !== made.account.email) {
    interruption.value = { kind: "replaced", email: made.account.email };
    return;
  }
  session.value = made;
  if (interruption.value === null) return;
  interruption.value = null;
  resumptions.value++;
}

function interrupt(): void {
  if (!session.value || !isConfirmed) leave();
  // Once another account's session has come first, it no longer matters whose session ended.
  else interruption.value ??= { kind: "ended" };
}

// What was loaded before does not say that a second factor is required.
onRefused((isTotpRequired) => (isTotpRequired ? void loadSession() : interrupt()));

otherTabs.onmessage = ({ data }: MessageEvent<SignedIn | null>) => {
  if (data !== null) takeOver(data);
  else if (hasUnsavedWork()) interrupt();
  else leave();
};
