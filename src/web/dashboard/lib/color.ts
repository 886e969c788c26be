/** Colours of companions: whether they can be seen and read (WCAG 2.2). */

export const defaultThemeColor = "#4f46e5";

export function isColor(text: string): boolean {
  return /^#[\da-f]{6}$/i.test(text);
}

/** 0 for black to 1 for white. */
function luminance(color: string): number {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

/** 1 to 21. */
export function contrast(one: string, other: string): number {
  const ratio = (luminance(one) + 0.05) / (luminance(other) + 0.05);
  return Math.max(ratio, 1 / ratio);
}

/** The text colour on it: the widget takes whichever of black and white contrasts more. */
export function textColorOn(color: string): "#000000" | "#ffffff" {
  return contrast(color, "#000000") >= contrast(color, "#ffffff") ? "#000000" : "#ffffff";
}

/** The image that the server generates if there is none. */
export function avatarImage(name: string, color: string): string {
  const [initial = "?"] = [...new Intl.Segmenter().segment(name.trim())].map(({ segment }) => segment);
  const safe = initial.toLocaleUpperCase("en").replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const fill = isColor(color) ? color : defaultThemeColor;
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" width="96" height="96">` +
    `<rect width="96" height="96" rx="48" fill="${fill}"/><text x="48" y="50" fill="${textColorOn(fill)}" ` +
    `font-family="system-ui, sans-serif" font-size="44" font-weight="600" text-anchor="middle" ` +
    `dominant-baseline="central">${safe}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
