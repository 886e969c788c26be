/** The guides, which the build has rendered: nothing of them is read before somebody asks for one. */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import { chooseFileEncoding, type EncodedFile, type FileEncoding } from "../../http/encoded-file.ts";
import { embeddedGuides } from "../../web/generated/guides/index.ts";

const decompress = promisify(brotliDecompress);
const compress = promisify<Uint8Array, Buffer>(gzip);

/** The page of that name, or the list of all under the empty one; null if there is none. */
export async function findGuide(name: string, acceptEncoding: string | null): Promise<EncodedFile | null> {
  const guide = embeddedGuides.find((one) => one.name === name);
  if (guide === undefined) return null;
  const encoding = chooseFileEncoding(acceptEncoding);
  const bytes = new Uint8Array(await encode(await readFile(guide.br), encoding));
  return { bytes, contentType: "text/html; charset=utf-8", encoding, etag: `"${guide.hash}-${encoding}"` };
}

/** Every browser takes it as it is; for others it takes about a millisecond of another thread. */
async function encode(stored: Buffer, encoding: FileEncoding): Promise<Buffer> {
  if (encoding === "br") return stored;
  const plain = await decompress(stored);
  return encoding === "gzip" ? await compress(plain) : plain;
}
