/** Light, dark, or the system's setting; stored in this browser. */
import { State } from "./state.ts";

export type Theme = "system" | "light" | "dark";

const key = "companiond:theme";

function readKept(): Theme {
  try {
    const kept = localStorage.getItem(key);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system";
  }
}

export const theme = new State<Theme>(readKept());

function apply(): void {
  const { value } = theme;
  if (value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
  try {
    if (value === "system") localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // The browser stores nothing: the choice lasts as long as the page.
  }
}

apply();
theme.onChange(apply);

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemIsDark.matches);
}
