/** Scopes as stored with API keys: one letter each, since every check reads them. */
import { type Scope, scopes } from "../../../domain/account.ts";

/** Stored in databases: a letter never gets a different meaning. */
const letters: Record<Scope, string> = {
  "companions:read": "c",
  "companions:write": "C",
  "conversations:read": "v",
  "conversations:write": "V",
  "usage:read": "u",
  "keys:read": "k",
  "keys:write": "K",
  "audit:read": "a",
  "chat:write": "H",
  "budgets:write": "B",
  "knowledge:read": "n",
  "knowledge:write": "N",
  "webhooks:read": "w",
  "webhooks:write": "W",
};

const scopeOf = new Map(scopes.map((scope) => [letters[scope], scope]));

/** In the order given. */
export function encodeScopes(granted: readonly Scope[]): string {
  return granted.map((scope) => letters[scope]).join("");
}

/** Letters of a newer program are ignored: they grant nothing here. */
export function decodeScopes(text: string): Scope[] {
  return [...text].flatMap((letter) => scopeOf.get(letter) ?? []);
}
