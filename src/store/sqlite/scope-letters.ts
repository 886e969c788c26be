/** Scopes as stored with API keys: one letter each, since every check reads them. */
import { type Scope, scopes } from "../../domain/account.ts";

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
};

const scopeOfCode: (Scope | undefined)[] = [];
for (const scope of scopes) scopeOfCode[letters[scope].charCodeAt(0)] = scope;

/** In the order given. */
export function encodeScopes(granted: readonly Scope[]): string {
  let text = "";
  for (const scope of granted) text += letters[scope];
  return text;
}

/** Letters of a newer program are ignored: they grant nothing here. */
export function decodeScopes(text: string): Scope[] {
  const granted: Scope[] = [];
  for (let at = 0; at < text.length; at++) {
    const scope = scopeOfCode[text.charCodeAt(at)];
    if (scope !== undefined) granted.push(scope);
  }
  return granted;
}
