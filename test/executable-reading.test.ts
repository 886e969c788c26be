/** The executable as the process that reads documents: every parser is in it, and it has nothing but its pipes. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { DocumentKind } from "../src/core/knowledge/reading/kind.ts";
import { openDocumentReader } from "../src/core/knowledge/reading/reader.ts";
import { docxParagraph, makeDocx, makePdf } from "./support/documents.ts";
import { eventually } from "./support/eventually.ts";
import { executablePath, runExecutable } from "./support/executable.ts";
import { textOf } from "./support/page-text.ts";

const log = { warn() {} };
const command = [executablePath];
/** Of a process under a filter of system calls, or of a thread. */
const filtered = "Seccomp:\t2";
/** Takes seconds to read. */
const deep = { kind: "html", bytes: Buffer.from("<div>".repeat(1_000_000)) } as const;

test("reads every kind of document", async () => {
  const reader = openDocumentReader(log, { command });
  const read = async (kind: DocumentKind, content: string | Uint8Array) =>
    (await reader.read({ kind, bytes: Buffer.from(content as string) })).pages.map(textOf).join();
  expect(await read("pdf", makePdf([[["Words of a page", 10]]]))).toBe("Words of a page");
  expect(await read("docx", makeDocx(docxParagraph("Words of Word")))).toBe("Words of Word");
  const page = `<title>x</title><aside>${"Aside. ".repeat(10)}</aside><article>${"<p>Long words.</p>".repeat(50)}</article>`;
  expect(await read("html", page)).toContain("Long words.");
  expect(await read("csv", "a,b\n1,2")).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |");
  expect(await read("markdown", "# Title")).toBe("# Title");
  expect(await read("text", Buffer.from("83658358836795d4956982cd8142", "hex"))).toBe("テスト返品は。");
  await reader.close();
});

test("the process that reads has no environment, no descriptors but its own, and a filter; and it goes with the signal", async () => {
  const stop = new AbortController();
  const reader = openDocumentReader(log, { command });
  const reading = reader.read(deep, stop.signal).catch((reason: unknown) => reason);
  let pid = 0;
  await eventually(() => {
    [pid = 0] = findChildren();
    return pid !== 0 && readFileSync(`/proc/${pid}/status`, "utf8").includes(filtered);
  });
  expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
  expect(readFileSync(`/proc/${pid}/status`, "utf8")).toContain("NoNewPrivs:\t1");
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    expect(readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8")).toContain(filtered);
  }
  // Where memory or time is short, it comes last: in /proc/…/stat, niceness is the 17th value after the name.
  expect(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim()).toBe("1000");
  const nicenessOf = (thread: string) =>
    readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")[16];
  // A thread that has just begun is given it a moment later.
  await eventually(() => readdirSync(`/proc/${pid}/task`).every((thread) => nicenessOf(thread) === "10"));
  const open = readdirSync(`/proc/${pid}/fd`).map((one) => readlinkSync(`/proc/${pid}/fd/${one}`).replace(/\d+/, "N"));
  expect([...new Set(open)].sort()).toEqual([
    "/dev/null",
    "anon_inode:[eventfd]",
    "anon_inode:[eventpoll]",
    "socket:[N]",
  ]);
  stop.abort(new Error("called off"));
  expect(await reading).toBe(stop.signal.reason);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  await reader.close();
});

test("what takes too long or too much memory is killed", async () => {
  for (const [reason, bound] of [
    ["time", { timeoutMs: 150 }],
    ["memory", { memoryBytes: 8 * 1024 * 1024 }],
  ] as const) {
    const reader = openDocumentReader(log, { command, ...bound });
    await expect(reader.read(deep)).rejects.toMatchObject({ reason });
    await reader.close();
    // A killed process stays in the list until the system has noticed its end.
    await eventually(() => findChildren().length === 0);
  }
  expect(findChildren()).toEqual([]);
});

test("the command that reads is in no list, and doctor tells how it is confined", async () => {
  expect((await runExecutable(["--help"])).stdout).not.toContain("read-document");
  const { stdout } = await runExecutable(["doctor", "--json"]);
  expect(JSON.parse(stdout).checks).toContainEqual({
    name: "documents",
    status: "ok",
    detail: "They are read in a process without network and files.",
    advice: null,
  });
});

/** Of this process, whatever thread started them, that read. Other files of the run may have left it a browser or a database. */
function findChildren(): number[] {
  const threads = readdirSync("/proc/self/task");
  const pids = threads.flatMap((thread) => readFileSync(`/proc/self/task/${thread}/children`, "utf8").split(" "));
  return pids.filter((pid) => pid !== "" && isReading(pid)).map(Number);
}

function isReading(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes("read-document");
  } catch {
    return false;
  }
}
