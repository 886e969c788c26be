/**
 * Writes `.env.example` from the descriptions of the settings. Run it after a setting was added or changed; a test
 * compares.
 *
 *   bun scripts/env-example.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { wrapText } from "../src/cli/columns.ts";
import { type Setting, takesFile } from "../src/config/setting.ts";
import { settingSections } from "../src/config/settings.ts";

const width = 120;
const head = `# Settings of companiond. The executable reads no .env unless it is named: companiond serve --env-file FILE
#
# One NAME=value per line. Unquoted values end before " #"; 'single quotes' are literal; "double quotes" support
# \\n \\r \\t \\" \\\\. Nothing is expanded. The environment overrides this file, flags override both; an empty variable counts
# as unset. Each secret can be given as NAME_FILE instead, the path of a file that contains it.`;

export function renderEnvExample(): string {
  const sections = Object.entries(settingSections).map(([title, section]) => {
    const all: readonly Setting<unknown>[] = Object.values(section);
    return [`# --- ${title} `.padEnd(width, "-"), ...all.map(renderSetting)].join("\n\n");
  });
  return `${[head, ...sections].join("\n\n")}\n`;
}

function renderSetting(one: Setting<unknown>): string {
  const about = wrapText(one.about, width - 2).map((line) => `# ${line}`);
  const file = takesFile(one) ? [`#${one.variable}_FILE=`] : [];
  return [...about, `#${one.variable}=${one.defaultText}`, ...file].join("\n");
}

if (import.meta.main) writeFileSync(join(import.meta.dir, "../.env.example"), renderEnvExample());
