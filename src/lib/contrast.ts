/** Colour contrast with WCAG 2.2's relative luminance. */

/** Black or white, whichever contrasts more with `#rrggbb`: at least 4.58:1 for every colour. */
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
