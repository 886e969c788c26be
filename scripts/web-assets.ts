/** Embeds what browsers load in the executable: compressed at build time, under names that change with the content. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";

const contentTypes: Record<string, string> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};

export interface WebAsset {
  /** The stable name: `widget.js`. */
  name: string;
  /** With the hash of the content: `widget.0123456789.js`. */
  fileName: string;
  bytes: Uint8Array;
  gzipBytes: Uint8Array;
  brotliBytes: Uint8Array;
}

export function toAsset(name: string, content: string | Uint8Array): WebAsset {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const extension = extname(name);
  return {
    name,
    fileName: `${name.slice(0, -extension.length)}.${hashOf(bytes)}${extension}`,
    bytes,
    gzipBytes: gzipSync(bytes, { level: 9 }),
    brotliBytes: brotliCompressSync(bytes, {
      params: { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  };
}

/** The value of `integrity` attributes. */
export function integrityOf(bytes: Uint8Array): string {
  return `sha384-${createHash("sha384").update(bytes).digest("base64")}`;
}

export function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 10);
}

/**
 * Names change with the content, so an existing file is always right, and concurrent builds do not disturb each other.
 * The list is written last; then files that it no longer contains are deleted.
 */
export function writeAssets(assets: readonly WebAsset[], generated: string): void {
  mkdirSync(generated, { recursive: true });
  const imports: string[] = [];
  const entries: string[] = [];
  const files = new Set(["assets.ts", "packages.json", "guides"]);
  for (const [index, asset] of assets.entries()) {
    const contentType = contentTypes[extname(asset.name)];
    if (contentType === undefined) throw new Error(`No content type is known for ${asset.name}.`);
    // A special extension: the bundler of the executable must not transform them.
    for (const [suffix, bytes] of [
      ["", asset.bytes],
      [".br", asset.brotliBytes],
      [".gz", asset.gzipBytes],
    ] as const) {
      const file = `${asset.fileName}${suffix}.embedded`;
      files.add(file);
      writeWhole(join(generated, file), bytes);
      imports.push(`import file${index}${suffix.slice(1)} from "./${file}" with { type: "file" };`);
    }
    entries.push(
      `  { name: "${asset.name}", fileName: "${asset.fileName}", contentType: "${contentType}", integrity: "${integrityOf(asset.bytes)}", plain: file${index}, br: file${index}br, gz: file${index}gz },`,
    );
  }
  const list = `export const embeddedAssets = [\n${entries.join("\n")}\n];\n`;
  const source = `/** Made by scripts/build-web.ts. */\n${imports.join("\n")}\n\n${list}`;
  writeWhole(join(generated, "assets.ts"), new TextEncoder().encode(source));
  for (const file of readdirSync(generated)) {
    if (!files.has(file) && !file.endsWith(".part")) rmSync(join(generated, file), { recursive: true, force: true });
  }
}

/** Written to a temporary file and renamed, so that nobody sees half of it. */
export function writeWhole(path: string, bytes: Uint8Array): void {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, bytes);
  renameSync(part, path);
}
