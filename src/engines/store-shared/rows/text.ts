/** Text as PostgreSQL can store it. */

/** U+0000, which PostgreSQL refuses, becomes the replacement character: what visitors, models and providers send must not fail. */
export function withoutNul<Text extends string | null>(text: Text): Text {
  return text?.includes("\0") ? (text.replaceAll("\0", "\uFFFD") as Text) : text;
}
