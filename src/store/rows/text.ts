/** Text as PostgreSQL can store it. */

/** U+0000, which PostgreSQL refuses, becomes the replacement character: what visitors, models and providers send must not fail. */
export function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}
