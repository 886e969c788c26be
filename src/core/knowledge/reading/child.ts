/** The reading process from its inside: takes one document from standard input and reports its text. */
import { readdirSync, writeFileSync } from "node:fs";
import { confineProcess } from "./confinement.ts";
import { ReadingFailure } from "./failure.ts";
import type { DocumentKind } from "./kind.ts";
import { loadParser } from "./parse.ts";
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

/** Of -20 to 19. */
const niceness = 10;
/** The kernel ends it first. */
const oomScore = "1000";

/**
 * Puts this process behind all others: where processor time or memory is short, a document waits or is lost, no
 * reply. As far as the system lets it; on Linux any process may do both to itself.
 */
function letOthersGoFirst(): void {
  if (process.platform !== "linux") return;
  attempt(() => writeFileSync("/proc/self/oom_score_adj", oomScore));
  const { setPriority } = process.getBuiltinModule("node:os");
  // Each thread has a niceness of its own; those to come take over that of the one which starts them. Twice, since one may
  // have been started meanwhile by another that had not been set yet.
  for (let round = 0; round < 2; round++) {
    attempt(() => {
      for (const thread of readdirSync("/proc/self/task")) attempt(() => setPriority(Number(thread), niceness));
    });
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A sandbox refuses it, or a thread has ended: documents are read all the same.
  }
}
