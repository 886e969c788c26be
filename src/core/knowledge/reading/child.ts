/** The reading process from its inside: takes one document from standard input and reports what it says. */
import { confineProcess } from "./confinement.ts";
import { ReadingFailure } from "./failure.ts";
import type { DocumentKind } from "./kind.ts";
import { loadParser } from "./parse.ts";
import { letOthersGoFirst } from "./precedence.ts";
import { pieceLength, type Report } from "./report.ts";

export async function readInChild(kind: DocumentKind, charset: string | null): Promise<void> {
  letOthersGoFirst();
  const parse = await loadParser(kind);
  const sink = Bun.stdout.writer();
  const input = Bun.stdin.stream();
  const say = async (report: Report) => {
    sink.write(`${JSON.stringify(report)}\n`);
    await sink.flush();
  };
  // Everything that is still to be loaded has been by now; from here on nothing can be opened.
  await say({ is: confineProcess() ? "confined" : "unconfined" });
  try {
    const { title, pages } = await parse(await new Response(input).bytes(), charset);
    await say({ is: "title", title });
    for (const { number, markdown } of pages) {
      for (let at = 0; at < markdown.length; at += pieceLength) {
        await say({ is: "text", page: number, text: markdown.slice(at, at + pieceLength) });
      }
    }
    await say({ is: "read" });
  } catch (error) {
    if (!(error instanceof ReadingFailure)) throw error;
    await say({ is: "failed", reason: error.reason });
  }
}
