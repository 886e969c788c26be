/** Entity tags: a client that has the current version does not get it again. */

/** A strong ETag of the text. */
export function tagOf(text: string): string {
  return `"${Bun.hash(text).toString(36)}"`;
}

/** Whether the client's `If-None-Match` contains the tag. Weak comparison, because a proxy may have made it weak. */
export function matchesTag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
