/** Faults of files, each with file and line, from any check. */

import type { FileFault } from "../../core/companion-files/marked-value.ts";
import type { FileCompanion } from "../../core/companion-files/read-companions.ts";
import type { FieldError } from "../../domain/errors.ts";

/**
 * Of the params of `POST /api/apply`, which name the companions by their position; without those that are known of the files
 * already. Null if anything is no fault of a file.
 */
export function toFileFaults(errors: readonly FieldError[], companions: readonly FileCompanion[]): FileFault[] | null {
  const faults: FileFault[] = [];
  for (const { param, detail } of errors) {
    const [root, at, ...path] = toPath(param);
    const companion = root === "companions" && typeof at === "number" ? companions[at] : undefined;
    // What is wrong with the options stands in no file.
    if (companion === undefined) return null;
    if (companion.isFaulty(path)) continue;
    const sentence = path.length === 0 ? detail : `${path.join(".")}: ${detail}`;
    faults.push({ file: companion.file, line: companion.lineOf(path), sentence });
  }
  return faults;
}

/** `companions[2].tools[0].name` as its steps. */
function toPath(param: string): (string | number)[] {
  return param
    .replace(/\[(\d+)\]/g, ".$1")
    .split(".")
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

/** As compilers write them, by file and line. */
export function writeFaults(faults: readonly FileFault[]): string {
  const files = [...new Set(faults.map(({ file }) => file))].sort();
  const sorted = files.flatMap((file) => {
    return faults.filter((fault) => fault.file === file).sort((one, other) => one.line - other.line);
  });
  const lines = sorted.map(({ file, line, sentence }) => `${file}:${line}: ${sentence}`.replace(/\p{Cc}/gu, " "));
  return `${lines.join("\n")}\n`;
}
