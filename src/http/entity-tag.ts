/** Entity tags: what a client has already need not be sent again. */

/** A strong tag of the text. */
export function tagOf(text: string): string {
  return `"${Bun.hash(text).toString(36)}"`;
}

/** Whether the client's `If-None-Match` names the tag. Compared weakly: a proxy may have marked it so. */
export function matchesTag(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}
