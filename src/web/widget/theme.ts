/** Colours that can be read, computed from the one that the owner chose (WCAG 2.2 relative luminance). */

export const defaultColor = "#4f46e5";

/** By the names of the style sheet's variables. */
export interface Accent {
  /** The owner's colour. */
  fill: string;
  /** Black or white, whichever reads better on it. */
  "on-fill": string;
  /** The owner's colour, moved until text in it can be read on bubbles and panel. */
  ink: string;
}

/** Where black and white read equally well. */
const middleLuminance = 0.179;
/** Beyond these, text has a contrast of 4.6 to the least favourable surface: bubbles, of luminance 0.88 and 0.021. */
const darkInkLuminance = 0.152;
const lightInkLuminance = 0.28;

export function computeAccent(color: string, isDark: boolean): Accent {
  const value = Number.parseInt(color.slice(1), 16);
  const fill = [value >> 16, value >> 8, value].map((channel) => channel & 255);
  const canRead = (ink: number[]) => (isDark ? luminance(ink) > lightInkLuminance : luminance(ink) < darkInkLuminance);
  let ink = fill;
  for (let share = 0; share < 1 && !canRead(ink); share += 0.05) {
    ink = fill.map((channel) => channel + ((isDark ? 255 : 0) - channel) * share);
  }
  return { fill: `rgb(${fill})`, "on-fill": luminance(fill) > middleLuminance ? "#000" : "#fff", ink: `rgb(${ink})` };
}

function luminance(channels: number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) =>
    channel > 10 ? ((channel / 255 + 0.055) / 1.055) ** 2.4 : channel / 255 / 12.92,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
