/** The format of API keys and embed tokens. */

const keyPattern = /^cmp_live_[0-9A-Za-z]{32}$/;
const tokenPattern = /^emb_[0-9A-Za-z]{32}$/;

/** Characters of an API key kept for display: the prefix and four of the 32. */
const keyStartLength = "cmp_live_".length + 4;

export function makeApiKey(secret: (length: number) => string): string {
  return `cmp_live_${secret(32)}`;
}

export function makeEmbedToken(secret: (length: number) => string): string {
  return `emb_${secret(32)}`;
}

export function isApiKey(text: string): boolean {
  return keyPattern.test(text);
}

export function isEmbedToken(text: string): boolean {
  return tokenPattern.test(text);
}

/** The parts of a key that may be shown later: 24 of its 32 characters stay unknown. */
export function apiKeyEnds(key: string): { start: string; lastFour: string } {
  return { start: key.slice(0, keyStartLength), lastFour: key.slice(-4) };
}
