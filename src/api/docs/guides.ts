/** The guides, which the build has rendered: nothing of them is read before someone asks for one. */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { embeddedGuides, guidesFile } from "../../web/generated/guides/index.ts";

const decompress = promisify(brotliDecompress);

/** All of them, three quarters of a megabyte, from the first one on that is asked for. */
let pages: Promise<Buffer> | null = null;

interface Guide {
  html: Uint8Array;
  /** Of the page, in whatever encoding. */
  tag: string;
}

/** The page of that name, or the list of all under the empty one; null if there is none. */
export async function findGuide(name: string): Promise<Guide | null> {
  const guide = embeddedGuides.find((one) => one.name === name);
  if (guide === undefined) return null;
  pages ??= readFile(guidesFile).then((bytes) => decompress(bytes));
  return { html: (await pages).subarray(guide.start, guide.end), tag: `"${guide.hash}"` };
}
