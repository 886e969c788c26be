/** Accounts: who owns companions, with which plan and rights. */
import { AppError } from "./errors.ts";
import type { Member } from "./member.ts";

export const plans = ["free", "paid"] as const;
/** Sets the daily message quota of each of the account's companions, and how much the account may hold. */
export type Plan = (typeof plans)[number];

/** What an account may hold, by plan. */
export interface Holdings {
  readonly companions: number;
  /** Keys that are not revoked, including expired ones, which are still listed. */
  readonly keys: number;
  readonly tokensPerCompanion: number;
  /** Beside the account's own sign-in. */
  readonly members: number;
  /** Size of the companions as stored; conversations are not counted. */
  readonly bytes: number;
}
export type HoldingsByPlan = Readonly<Record<Plan, Holdings>>;

export const roles = ["owner", "operator"] as const;
/** Operators may also manage accounts. */
export type Role = (typeof roles)[number];

export interface Account {
  id: string;
  /** Lower case, unique. */
  email: string;
  plan: Plan;
  role: Role;
  /** Epoch milliseconds. While set, keys get 401 and embed tokens 404. */
  suspendedAt: number | null;
  /** When the second factor was enabled, in epoch milliseconds; null if signing in takes only the password. */
  totpConfirmedAt: number | null;
  createdAt: number;
}

/** The account of the demo companion. It has no password. */
export const demoEmail = "demo@localhost";

export const scopes = [
  "companions:read",
  "companions:write",
  "conversations:read",
  "conversations:write",
  "conversations:reply",
  "usage:read",
  "keys:read",
  "keys:write",
  "audit:read",
  "chat:write",
  "budgets:write",
  "knowledge:read",
  "knowledge:write",
  "webhooks:read",
  "webhooks:write",
] as const;
export type Scope = (typeof scopes)[number];

const responderScopes = ["companions:read", "conversations:read", "conversations:reply", "knowledge:read"] as const;
/** Not what concerns the whole account: with a key or webhook they would reach all of its companions. */
const limitedOwnerScopes = scopes.filter((scope) => /^(companions|conversations|knowledge|usage):/.test(scope));

/** What a session may do: of a member, or, with null, of the account's own sign-in. */
export function scopesOf(member: Pick<Member, "role" | "companionIds"> | null): readonly Scope[] {
  if (member?.role === "responder") return responderScopes;
  return (member?.companionIds ?? null) === null ? scopes : limitedOwnerScopes;
}

/** The account as a member signs in to it: with their own address and second factor, and never as an operator. */
export function asMember(account: Account, { email, totpConfirmedAt }: Member): Account {
  return { ...account, email, totpConfirmedAt, role: "owner" };
}

/** An API key as stored, without the key itself. */
export interface ApiKey {
  id: string;
  accountId: string;
  name: string;
  /** The first characters of the key, for display. */
  start: string;
  /** The last four characters, for display; null for keys created before these were stored. */
  lastFour: string | null;
  scopes: Scope[];
  expiresAt: number | null;
  lastUsedAt: number | null;
  /** Number of management calls made with the key. */
  requests: number;
  /** The key that created it, with which it ends; null if it was created in the dashboard or by a command. */
  createdByKeyId: string | null;
  /** Set by a rotation: the key that replaced it, and when. */
  replacedByKeyId: string | null;
  replacedAt: number | null;
  createdAt: number;
}

/** A platform's server, identified by its API key. */
export interface KeyPrincipal {
  /** Only what every check of a key can afford to read. */
  account: Pick<Account, "id" | "plan">;
  scopes: readonly Scope[];
  keyId: string;
  /** Expiry of the key: what it creates ends no later. */
  expiresAt: number | null;
  sessionId: null;
  /** Whether the account had an enabled webhook when the key was checked. */
  hasWebhooks: boolean;
}

/** A dashboard user, identified by the session cookie. */
export interface SessionPrincipal {
  /** As the person signs in to it: see `asMember`. */
  account: Account;
  /** Null: the account's own sign-in. */
  member: Member | null;
  scopes: readonly Scope[];
  keyId: null;
  sessionId: string;
}

/** The caller of a management request, determined by the principal guard. */
export type Principal = KeyPrincipal | SessionPrincipal;

/** The longest grace period of a rotation: the end of a key cannot be put off for ever. */
export const maxGraceSeconds = 30 * 86_400;

/** Of a key that a person makes to replace another: as much time as that was given; null: it never expires. */
export function renewedExpiry({ createdAt, expiresAt }: Pick<ApiKey, "createdAt" | "expiresAt">, nowMs: number) {
  return expiresAt === null ? null : nowMs + expiresAt - createdAt;
}

/** `insufficient_scope`, naming the missing scopes. */
export function insufficientScope(missing: readonly Scope[], { keyId }: Pick<Principal, "keyId">): AppError {
  if (keyId === null) {
    const sentence = `This is not for you: it takes ${missing.join(", ")}. Ask an owner of the account.`;
    return new AppError("insufficient_scope", sentence);
  }
  const scopes = missing.length === 1 ? "the scope" : "the scopes";
  return new AppError("insufficient_scope", `This needs an API key with ${scopes} ${missing.join(", ")}.`);
}
