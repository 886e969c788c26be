/** `SHA256SUMS`, in the form that `sha256sum --check` reads. */
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Writes it into the folder, one line for each file, in the order given. */
export function writeChecksums(folder: string, files: readonly string[]): void {
  const sums = files.map((file) => `${new Bun.SHA256().update(readFileSync(file)).digest("hex")}  ${basename(file)}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
}
