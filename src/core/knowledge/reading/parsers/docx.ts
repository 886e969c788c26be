/** Word documents: their headings, lists and tables, by way of HTML. */
import mammoth from "mammoth";
import type { ReadDocument } from "../../../../domain/knowledge.ts";
import { ReadingFailure } from "../failure.ts";
import { cleanTitle } from "../plain-text.ts";
import { openArchive } from "../zip.ts";
import { markdownOfHtml } from "./html.ts";

const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];

export async function readDocx(bytes: Uint8Array): Promise<ReadDocument> {
  const start = Buffer.from(bytes.subarray(0, 4)).toString("hex");
  // An OLE file: an encrypted package, if it was taken for a Word document at all.
  if (start === "d0cf11e0") throw new ReadingFailure("password");
  if (start !== "504b0304") throw new ReadingFailure("format");
  const archive = openArchive(bytes);
  const file = {
    exists: archive.has,
    async read(name: string, encoding?: string) {
      const content = archive.read(name);
      if (encoding === undefined) return content;
      return encoding === "base64" ? content.toString("base64") : new TextDecoder().decode(content);
    },
  };
  try {
    // The library takes an opened archive in place of bytes, which its types do not tell; its own knows no bounds.
    const { value } = await mammoth.convertToHtml({ file } as never, { styleMap, convertImage: withoutPicture });
    const title = archive.has("docProps/core.xml") ? findTitle(archive.read("docProps/core.xml").toString()) : null;
    return { title: cleanTitle(title), pages: [{ number: null, markdown: markdownOfHtml(value) }] };
  } catch (error) {
    throw error instanceof ReadingFailure ? error : new ReadingFailure("broken");
  }
}

/** Its words for those who cannot see it are added by the library. */
const withoutPicture = mammoth.images.imgElement(async () => ({ src: "" }));

function findTitle(xml: string): string | null {
  const text = /<dc:title>([^<]{1,1000})<\/dc:title>/.exec(xml)?.[1] ?? null;
  const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
  return text?.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => names[name] ?? "") ?? null;
}
