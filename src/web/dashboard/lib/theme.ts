/** Light, dark, or the system's setting; stored in this browser. */
import { keep, recall } from "./browser-storage.ts";
import { State } from "./state.ts";

export type Theme = "system" | "light" | "dark";

const key = "companiond:theme";

const kept = recall(key);

export const theme = new State<Theme>(kept === "light" || kept === "dark" ? kept : "system");

function apply(): void {
  const { value } = theme;
  if (value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
  keep(key, value === "system" ? null : value);
}

apply();
theme.onChange(apply);

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  return theme.value === "dark" || (theme.value === "system" && systemIsDark.matches);
}
