/** The settings as `serve --help` lists them. */
import { type Setting, settings } from "../config/settings.ts";
import { formatColumns } from "./columns.ts";

export function describeSettings(): string {
  const all: readonly Setting<unknown>[] = Object.values(settings);
  const rows = all.map((one) => {
    const fallback = one.defaultText === "" ? "" : ` (${one.defaultText})`;
    return [`  ${one.variable}${one.isSecret ? "[_FILE]" : ""}`, `${one.about}${fallback}`];
  });
  return [
    "Environment, all optional; flags win. [_FILE]: also as a path to a file that holds it.",
    "",
    formatColumns(rows),
  ].join("\n");
}
