/** Visitors whose website vouches for them: who they are, and what is known of them. */

import { type BudgetSubject, factsOfSubject, spendingFactsOf } from "./budget.ts";
import { AppError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import { isClean, isWithin } from "./metadata.ts";

/** Whether a companion's visitors may, or must, bring a token of their website. With `off` a token is ignored. */
export const visitorAuths = ["off", "optional", "required"] as const;
export type VisitorAuth = (typeof visitorAuths)[number];

/** A token's claims of its visitor. */
export interface VisitorClaims {
  /** The website's own name for the visitor; see `isSub`. */
  sub: string;
  name: string | null;
  email: string | null;
  /** At most 2 KiB of UTF-8 JSON. */
  attributes: JsonObject;
}

export const visitorKeyAlgorithms = ["HS256", "ES256", "EdDSA"] as const;
export type VisitorKeyAlgorithm = (typeof visitorKeyAlgorithms)[number];

/** At most this many keys of an account with the same filter are live, so that one can replace the other. */
export const maxKeysOfFilter = 2;
export const maxVisitorKeys = 10_000;

/** For which companions a key vouches: those with the metadata, found as budgets find calls; null: all of the account. */
export type VisitorKeyFilter = JsonObject | null;

/** What must be true of a companion, all of it. Filters with the same facts are the same filter, however they are written. */
export function factsOfFilter(filter: VisitorKeyFilter): string[] {
  const subject: BudgetSubject = filter === null ? { account: true } : { metadata: filter };
  return factsOfSubject(subject);
}

/** What is true of a companion, of all that filters may ask for. */
export function visitorFactsOf({ id: companionId, metadata }: { id: string; metadata: JsonObject }): string[] {
  return spendingFactsOf({ companionId, keyId: null, metadata });
}

export function coversCompanion(filter: VisitorKeyFilter, companion: { id: string; metadata: JsonObject }): boolean {
  // Metadata is parsed when it is read first.
  return filter === null || coversFacts(filter, new Set(visitorFactsOf(companion)));
}

export function coversFacts(filter: VisitorKeyFilter, facts: ReadonlySet<string>): boolean {
  return factsOfFilter(filter).every((fact) => facts.has(fact));
}

export const maxSubLength = 255;

/** Steps in a path, which no URL can name, however they are escaped: such a visitor could not be erased. */
const pathSteps = [".", ".."];

/** Whether a website may call a visitor so. The length is counted in code points. */
export function isSub(text: string): boolean {
  if (text === "" || pathSteps.includes(text)) return false;
  return text.isWellFormed() && !text.includes("\0") && [...text].length <= maxSubLength;
}

const maxAttributesBytes = 2048;
const maxAttributesDepth = 30;

/** Whether this much may be known of a visitor. */
export function areAttributes(attributes: JsonObject): boolean {
  if (!isWithin(attributes, maxAttributesDepth)) return false;
  return Buffer.byteLength(JSON.stringify(attributes), "utf8") <= maxAttributesBytes && isClean(attributes);
}

const verifiedStart = "sub:";

/** The id under which a verified visitor is stored. `digest`: of the account and the `sub`, made with the server's key. */
export function toVerifiedId(digest: string): string {
  return verifiedStart + digest;
}

/** Whether it is a verified visitor's id: no UUID is. */
export function isVerifiedId(visitorId: string | null): visitorId is string {
  return visitorId?.startsWith(verifiedStart) === true;
}

/** `visitor_unverified`, the same for every fault: the sentence must not help anyone to forge a token. */
export function unverified(): AppError {
  return new AppError(
    "visitor_unverified",
    "The visitor token is missing or not valid: send a new one from the website in X-Visitor-Token.",
    { headers: { "www-authenticate": "Bearer" } },
  );
}
