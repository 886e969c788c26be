/** The files of the web build in three prepared encodings each, read once, on first use. */
import { readFile } from "node:fs/promises";
import { embeddedAssets } from "../../web/generated/assets.ts";

type Encoding = "br" | "gzip" | "identity";

interface AssetResponse {
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  encoding: Encoding;
  /** Differs by encoding, as strong ETags must. */
  etag: string;
}

interface AssetReference {
  /** Path of the copy that never changes. */
  path: string;
  /** For `integrity` attributes. */
  integrity: string;
}

const byName = new Map(
  embeddedAssets.flatMap((asset) => [[asset.name, asset] as const, [asset.fileName, asset] as const]),
);
const read = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();

/** What is published about every file, by stable name. */
export const assetReferences: Readonly<Record<string, AssetReference>> = Object.fromEntries(
  embeddedAssets.map(({ name, fileName, integrity }) => [name, { path: `/assets/${fileName}`, integrity }]),
);

/** Finds a file by its stable name (`widget.js`) or its hashed one; null if there is none. */
export async function findAsset(name: string, acceptEncoding: string | null): Promise<AssetResponse | null> {
  const asset = byName.get(name);
  if (asset === undefined) return null;
  const isImage = asset.contentType === "image/png";
  // Images are already compressed.
  const encoding = isImage ? "identity" : chooseEncoding(acceptEncoding);
  const bytes = await readOnce({ br: asset.br, gzip: asset.gz, identity: asset.plain }[encoding]);
  const hash = asset.integrity.slice("sha384-".length, "sha384-".length + 22);
  return { bytes, contentType: asset.contentType, encoding, etag: `"${hash}-${encoding}"` };
}

function readOnce(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const known = read.get(path) ?? readFile(path).then((bytes) => new Uint8Array(bytes));
  read.set(path, known);
  return known;
}

/** The smallest encoding that the client accepts; `q=0` is a refusal. */
export function chooseEncoding(acceptEncoding: string | null): Encoding {
  const accepted = new Map<string, boolean>();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    accepted.set(name, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  }
  const any = accepted.get("*") ?? false;
  if (accepted.get("br") ?? any) return "br";
  return (accepted.get("gzip") ?? any) ? "gzip" : "identity";
}
