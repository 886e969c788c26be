/** Bytes of a kind to a document with words in it, or a `ReadingFailure`; only to be run where a crash is no harm. */
import type { ParsedDocument } from "../../../domain/knowledge.ts";
import { ReadingFailure } from "./failure.ts";
import type { DocumentKind } from "./kind.ts";
import { hasWords } from "./plain-text.ts";

type Parser = (bytes: Uint8Array, charset: string | null) => ParsedDocument | Promise<ParsedDocument>;

const parsers: Readonly<Record<DocumentKind, () => Promise<Parser>>> = {
  pdf: async () => (await import("./parsers/pdf.ts")).loadPdfReader(),
  docx: async () => (await import("./parsers/docx.ts")).readDocx,
  html: async () => (await import("./parsers/html.ts")).readHtml,
  markdown: async () => (await import("./parsers/text.ts")).readMarkdown,
  text: async () => (await import("./parsers/text.ts")).readPlainText,
  csv: async () => (await import("./parsers/csv.ts")).readCsv,
};

/** Only the parser that is needed: loading all of them takes three times as long. */
export async function loadParser(kind: DocumentKind): Promise<Parser> {
  const parse = await parsers[kind]();
  return async (bytes, charset) => {
    if (bytes.length === 0) throw new ReadingFailure("empty");
    try {
      const read = await parse(bytes, charset);
      if (!read.pages.some(({ markdown }) => hasWords(markdown))) throw new ReadingFailure("empty");
      return read;
    } catch (error) {
      // What parsers throw by accident: hostile nesting ends their stack, for one.
      throw error instanceof ReadingFailure ? error : new ReadingFailure("broken", { cause: error });
    }
  };
}
