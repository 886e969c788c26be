/** The Debian packages of this project, made of any executable. */
import { writeFileSync } from "node:fs";
import { buildTime } from "../../scripts/build-stamp.ts";
import { makeCommandTexts } from "../../scripts/release/command-texts.ts";
import { type DebArchitecture, debFileName, writeDeb } from "../../scripts/release/deb.ts";
import { debFiles, debScripts } from "../../scripts/release/deb-files.ts";
import type { TemporaryDirectory } from "./temporary.ts";

export const maintainer = "Ada Example <ada@example.com>";
const builtAt = buildTime({ SOURCE_DATE_EPOCH: "1790000000" });

/** Those of this machine, and the others. */
export const [native, foreign]: [DebArchitecture, DebArchitecture] =
  process.arch === "arm64" ? ["arm64", "amd64"] : ["amd64", "arm64"];

/** Returns the path of the package. */
export async function writePackage(
  directory: Pick<TemporaryDirectory, "file">,
  version: string,
  architecture: DebArchitecture,
  executable: Uint8Array,
): Promise<string> {
  const facts = { version, maintainer, builtAt };
  const texts = {
    ...(await makeCommandTexts(version, builtAt, { hasReleases: true })),
    notices: "Notices",
    sbom: "{}",
  };
  const contents = { files: debFiles(texts, facts), scripts: debScripts() };
  const file = directory.file(debFileName(version, architecture));
  // Not compressed: that would take longer than all the rest.
  writeFileSync(file, writeDeb({ ...facts, ...contents, architecture, executable, compressionLevel: 0 }));
  return file;
}
