/** The list of settings for `serve --help`. */
import { type Setting, settings } from "../config/settings.ts";
import { formatColumns } from "./columns.ts";

export function describeSettings(): string {
  const all: readonly Setting<unknown>[] = Object.values(settings);
  const rows = all.map((one) => {
    const fallback = one.defaultText === "" ? "" : ` (${one.defaultText})`;
    return [`  ${one.variable}${one.isSecret ? "[_FILE]" : ""}`, `${one.about}${fallback}`];
  });
  return [
    "Environment variables, all optional; flags win. [_FILE]: can also name a file that contains the value.",
    "",
    formatColumns(rows),
  ].join("\n");
}
