/** The client for servers as npm installs it, in the same bytes on every machine. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildClientPackage } from "../build-sdk-package.ts";
import type { CompressionLevel } from "./deb.ts";
import { writeTar } from "./tar.ts";

export function clientPackageName(version: string): string {
  return `companiond-client-${version}.tgz`;
}

export async function writeClientPackage(builtAt: Date, level: CompressionLevel): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), "companiond-client-"));
  try {
    await buildClientPackage(folder);
    const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      statSync(join(folder, path)).isFile(),
    );
    const files = paths.map((path) => ({ path, mode: 0o644, content: readFileSync(join(folder, path)) }));
    // Where npm looks for the files of every package.
    return Bun.gzipSync(Buffer.from(writeTar(files, builtAt, { prefix: "package/" })), { level });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
