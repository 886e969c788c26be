/** PDF: the text of each page, in the order in which the file writes it. */
import { getDocumentProxy, resolvePDFJSImport } from "unpdf";
import type { ParsedDocument, ReadPage } from "../../../../domain/knowledge.ts";
import { ReadingFailure } from "../failure.ts";
import { cleanText, cleanTitle, hasWords } from "../plain-text.ts";
import { findBodySize, type Line, makeLines, type TextItem, writeLines } from "./pdf-lines.ts";

/** The library loads most of itself late: too late for a process that can open nothing any more. */
export async function loadPdfReader(): Promise<typeof readPdf> {
  await resolvePDFJSImport();
  return readPdf;
}

async function readPdf(bytes: Uint8Array): Promise<ParsedDocument> {
  if (!Buffer.from(bytes.subarray(0, 1024)).includes("%PDF-")) throw new ReadingFailure("format");
  const missing = new Set<string>();
  const pdf = await openPdf(bytes, missing);
  const pages: { number: number; lines: Line[] }[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    pages.push({ number, lines: await readLines(pdf, number) });
  }
  const bodySize = findBodySize(pages.flatMap(({ lines }) => lines));
  const read: ReadPage<string>[] = pages.map(({ number, lines }) => ({
    number,
    markdown: cleanText(writeLines(lines, bodySize)),
  }));
  // Pages that are pictures are left out where others have text.
  const withText = read.filter(({ markdown }) => hasWords(markdown));
  if (withText.length === 0) throw new ReadingFailure(missing.has("cMapUrl") ? "fonts" : "scanned");
  return { title: await findTitle(pdf), pages: withText };
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

/** `missing` takes the kinds of data that the file does not bring along; old files in Japanese need such. */
async function openPdf(bytes: Uint8Array, missing: Set<string>): Promise<Pdf> {
  class NoData {
    fetch({ kind }: { kind: string }): Promise<never> {
      missing.add(kind);
      return Promise.reject(new Error("There is none."));
    }
  }
  try {
    // The library refuses the subclass `Buffer`.
    return await getDocumentProxy(new Uint8Array(bytes), {
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      // Instead of one that uses the network.
      BinaryDataFactory: NoData,
      useWorkerFetch: false,
    });
  } catch (error) {
    const isLocked = error instanceof Error && error.name === "PasswordException";
    throw new ReadingFailure(isLocked ? "password" : "broken");
  }
}

/** A broken page costs only itself. */
async function readLines(pdf: Pdf, number: number): Promise<Line[]> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return makeLines(items.filter((item): item is typeof item & TextItem => "str" in item));
  } catch {
    return [];
  }
}

/** Programs put the name of the file where there is no title. */
async function findTitle(pdf: Pdf): Promise<string | null> {
  try {
    const { info } = await pdf.getMetadata();
    const title = "Title" in info && typeof info.Title === "string" ? cleanTitle(info.Title) : null;
    return title === null || /^(?:untitled|microsoft \w+ - )|\.\w{2,4}$/i.test(title) ? null : title;
  } catch {
    return null;
  }
}
