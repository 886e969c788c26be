/** The owner's appearance on the widget's root, where the page says nothing else. */
import type { CompanionConfig } from "../sdk/connection.ts";
import { computeAccent, defaultColor } from "./theme.ts";

/** Draws the owner's appearance; what the page says comes first: the host's attributes, and `side`. */
export function drawTheme(
  root: HTMLElement,
  host: Element,
  config: CompanionConfig | null,
  side: string | null,
  isSystemDark: boolean,
): void {
  const { theme_color = defaultColor, appearance = {} } = config ?? {};
  const theme = host.getAttribute("theme") || appearance.theme;
  const isDark = theme === "dark" || (theme !== "light" && isSystemDark);
  const is = {
    dark: isDark,
    left: (side || appearance.position || (root.dir === "rtl" ? "left" : "right")) === "left",
    tinted: appearance.header === "tinted",
  };
  for (const [name, isSet] of Object.entries(is)) root.classList.toggle(name, isSet);
  const values = { ...computeAccent(theme_color, isDark), radius: `${appearance.radius ?? 16}px` };
  for (const [property, value] of Object.entries(values)) root.style.setProperty(`--${property}`, value);
}
