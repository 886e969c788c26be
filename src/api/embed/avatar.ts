/** The avatar of a companion without an image: its initial on its theme colour, in a colour that is readable on it. */
import { escapeHtml } from "../../http/html.ts";
import { readableTextColor } from "../../lib/contrast.ts";

export function renderAvatar(name: string, themeColor: string): string {
  // A grapheme, not a code unit: names may begin with an emoji or a combined letter.
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(name.trim());
  const initial = [...segments][0]?.segment.toLocaleUpperCase("en") ?? "?";
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96">` +
    `<rect width="96" height="96" rx="48" fill="${themeColor}"/>` +
    `<text x="48" y="50" fill="${readableTextColor(themeColor)}" font-family="system-ui, sans-serif" font-size="44" ` +
    `font-weight="600" text-anchor="middle" dominant-baseline="central">${escapeHtml(initial)}</text></svg>`
  );
}
