/** Accounts: who owns companions, under which plan and with which rights. */
import { AppError } from "./errors.ts";

export const plans = ["free", "paid"] as const;
/** Decides the daily message quota of each of the account's companions, and what it may hold. */
export type Plan = (typeof plans)[number];

/** What an account may hold, by its plan. */
export interface Holdings {
  readonly companions: number;
  /** Not revoked; expired ones included, as they are listed. */
  readonly keys: number;
  readonly tokensPerCompanion: number;
  /** Of companions as stored; visitors' words are not counted. */
  readonly bytes: number;
}
export type HoldingsByPlan = Readonly<Record<Plan, Holdings>>;

export const roles = ["owner", "operator"] as const;
/** An operator may also manage accounts. */
export type Role = (typeof roles)[number];

export interface Account {
  id: string;
  /** Lower case, unique. */
  email: string;
  plan: Plan;
  role: Role;
  /** Epoch milliseconds; while set, keys are 401 and embed tokens 404. */
  suspendedAt: number | null;
  /** Since when signing in takes a second factor too; null where it does not. */
  totpConfirmedAt: number | null;
  createdAt: number;
}

/** The account of the demo companion; it has no password. */
export const demoEmail = "demo@localhost";

export const scopes = [
  "companions:read",
  "companions:write",
  "conversations:read",
  "conversations:write",
  "usage:read",
  "keys:read",
  "keys:write",
  "audit:read",
] as const;
export type Scope = (typeof scopes)[number];

/** An API key as stored: never the key itself. */
export interface ApiKey {
  id: string;
  accountId: string;
  name: string;
  /** The first characters of the key, for display. */
  start: string;
  /** The last four, likewise; null for a key that was made before they were kept. */
  lastFour: string | null;
  scopes: Scope[];
  expiresAt: number | null;
  lastUsedAt: number | null;
  /** Management calls made with the key. */
  requests: number;
  /** The key that asked for it, with which it ends; null where it was made in the dashboard or by a command. */
  createdByKeyId: string | null;
  /** By a rotation: which key took its place, and when. */
  replacedByKeyId: string | null;
  replacedAt: number | null;
  createdAt: number;
}

/** A platform's server, by its API key. */
export interface KeyPrincipal {
  /** No more of it than every check of a key can afford to read. */
  account: Pick<Account, "id" | "plan">;
  scopes: readonly Scope[];
  keyId: string;
  /** Of the key: what it makes ends no later. */
  expiresAt: number | null;
  sessionId: null;
}

/** Somebody at the dashboard, by its cookie. */
export interface SessionPrincipal {
  account: Account;
  /** All there are. */
  scopes: readonly Scope[];
  keyId: null;
  sessionId: string;
}

/** Who a management request speaks for: made by the one guard. */
export type Principal = KeyPrincipal | SessionPrincipal;

/** `insufficient_scope`, naming what is missing. */
export function insufficientScope(missing: readonly Scope[]): AppError {
  const scopes = missing.length === 1 ? "the scope" : "the scopes";
  return new AppError("insufficient_scope", `This needs an API key with ${scopes} ${missing.join(", ")}.`);
}
