/** The avatar of a companion without an image: its initial on its theme colour, in a colour that is readable on it. */
import { escapeHtml } from "../../http/html.ts";

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

/**
 * Colour contrast with WCAG 2.2's relative luminance. Black or white, whichever contrasts more with `#rrggbb`: at
 * least 4.58:1 for every colour.
 */
export function readableTextColor(background: string): "#000000" | "#ffffff" {
  const luminance = relativeLuminance(background);
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

/** From 0 for black to 1 for white. */
function relativeLuminance(color: string): number {
  const channel = (start: number) => {
    const value = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
