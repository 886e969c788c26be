/** Colours that can be read, computed from the one that the owner chose (WCAG 2.2 relative luminance). */

type Channels = [red: number, green: number, blue: number];

const white: Channels = [255, 255, 255];
const black: Channels = [0, 0, 0];
export const defaultColor = "#4f46e5";

export interface Accent {
  /** The owner's colour. */
  fill: string;
  /** Black or white, whichever reads better on it. */
  onFill: string;
  /** The owner's colour, moved until text in it can be read on the surface. */
  ink: string;
}

export function computeAccent(color: string, isDark: boolean): Accent {
  const fill = parseColor(color) ?? parseColor(defaultColor) ?? black;
  // The darkest and the lightest place where the ink is used: bubbles in the light, the panel in the dark.
  const surface: Channels = isDark ? [37, 40, 49] : [241, 242, 246];
  const target = isDark ? white : black;
  let ink = fill;
  for (let share = 0; contrast(ink, surface) < 4.6 && share < 1; share += 0.05) ink = mix(fill, target, share);
  return {
    fill: write(fill),
    onFill: write(contrast(fill, black) > contrast(fill, white) ? black : white),
    ink: write(ink),
  };
}

function parseColor(color: string): Channels | null {
  const digits = /^#([\da-f]{6})$/i.exec(color)?.[1];
  if (!digits) return null;
  const value = Number.parseInt(digits, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function mix(from: Channels, to: Channels, share: number): Channels {
  return from.map((channel, index) => Math.round(channel + ((to[index] ?? 0) - channel) * share)) as Channels;
}

function contrast(one: Channels, other: Channels): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(channels: Channels): number {
  const [red = 0, green = 0, blue = 0] = channels.map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function write(channels: Channels): string {
  return `rgb(${channels.join(" ")})`;
}
