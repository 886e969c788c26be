/** The reading process from its inside: takes one document from standard input and reports what it says. */
import type { ReadDocument } from "../../domain/knowledge.ts";
import { confineProcess } from "./confinement.ts";
import { ReadingFailure } from "./failure.ts";
import type { DocumentKind } from "./kind.ts";
import { hasWords } from "./plain-text.ts";
import { pieceLength, type Report } from "./report.ts";

type Parser = (bytes: Uint8Array, charset: string | null) => ReadDocument | Promise<ReadDocument>;

/** Only the parser that is needed: a start with all of them takes three times as long. */
const parsers: Readonly<Record<DocumentKind, () => Promise<Parser>>> = {
  pdf: async () => (await import("./parsers/pdf.ts")).readPdf,
  docx: async () => (await import("./parsers/docx.ts")).readDocx,
  html: async () => (await import("./parsers/html.ts")).readHtml,
  markdown: async () => (await import("./parsers/text.ts")).readMarkdown,
  text: async () => (await import("./parsers/text.ts")).readPlainText,
  csv: async () => (await import("./parsers/csv.ts")).readCsv,
};

export async function readInChild(kind: DocumentKind, charset: string | null): Promise<void> {
  const parse = await parsers[kind]();
  const sink = Bun.stdout.writer();
  const input = Bun.stdin.stream();
  const say = async (report: Report) => {
    sink.write(`${JSON.stringify(report)}\n`);
    await sink.flush();
  };
  // Everything that is still to be loaded has been by now; from here on nothing can be opened.
  await say({ is: confineProcess() ? "confined" : "unconfined" });
  try {
    const bytes = await new Response(input).bytes();
    if (bytes.length === 0) throw new ReadingFailure("empty");
    const { title, pages } = await parse(bytes, charset);
    if (!pages.some(({ markdown }) => hasWords(markdown))) throw new ReadingFailure("empty");
    await say({ is: "title", title });
    for (const { number, markdown } of pages) {
      for (let at = 0; at < markdown.length; at += pieceLength) {
        await say({ is: "text", page: number, text: markdown.slice(at, at + pieceLength) });
      }
    }
    await say({ is: "read" });
  } catch (error) {
    // Errors that parsers throw by accident: hostile nesting ends their stack, for one.
    await say({ is: "failed", reason: error instanceof ReadingFailure ? error.reason : "broken" });
  }
}
