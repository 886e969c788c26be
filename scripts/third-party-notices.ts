/** The notices that go with the executable: which code of others is in it, and under which terms. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BundledPackage } from "./bundled-packages.ts";

/** What the executable is compiled into. Its package carries no licence file, but its documentation has the page. */
const runtimeLicence = join(import.meta.dir, "../node_modules/bun-types/docs/project/license.mdx");
const rule = "-".repeat(80);

export function renderNotices(packages: readonly BundledPackage[]): string {
  const sections = packages.map(({ manifest, licenceTexts }) =>
    [rule, `${manifest.name} ${manifest.version} (${manifest.license})`, rule, "", ...licenceTexts].join("\n"),
  );
  const runtime = [rule, `Bun ${Bun.version}, the runtime`, rule, "", readFileSync(runtimeLicence, "utf8").trim()];
  const opening = "companiond contains the following software of others.";
  return `${[opening, ...sections, runtime.join("\n")].join("\n\n")}\n`;
}
