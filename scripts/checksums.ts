/** `SHA256SUMS`, in the form that `sha256sum --check` reads. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Writes it into the folder, one line for each file, in the order given. */
export function writeChecksums(folder: string, files: readonly string[]): void {
  writeFileSync(join(folder, "SHA256SUMS"), files.map((file) => `${sha256Of(file)}  ${basename(file)}\n`).join(""));
}

/** In lower-case hexadecimal digits. */
export function sha256Of(file: string): string {
  return new Bun.SHA256().update(readFileSync(file)).digest("hex");
}
