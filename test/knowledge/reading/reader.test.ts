/** Documents read in processes of their own: one at a time, within bounds, and nothing but their text comes back. */
import { afterAll, expect, test } from "bun:test";
import { ReadingFailure } from "../../../src/core/knowledge/reading/failure.ts";
import { findKind } from "../../../src/core/knowledge/reading/kind.ts";
import { type Document, openDocumentReader, type ReadingOptions } from "../../../src/core/knowledge/reading/reader.ts";
import type { ReadDocument } from "../../../src/domain/knowledge.ts";
import { PiecedText } from "../../../src/lib/pieced-text.ts";
import { makeDocx, makePdf } from "../../support/documents.ts";
import { textOf } from "../../support/page-text.ts";

const logged: unknown[] = [];
const log = { warn: (event: string, fields?: object) => void logged.push({ event, ...fields }) };
const reader = openDocumentReader(log);
afterAll(() => reader.close());

/** Takes seconds to read. */
const deep: Document = { kind: "html", bytes: Buffer.from("<div>".repeat(1_000_000)) };

async function whyNot(document: Document, options: Partial<ReadingOptions>): Promise<string> {
  const bounded = openDocumentReader(log, options);
  const error = await bounded.read(document).catch((reason: unknown) => reason);
  await bounded.close();
  return error instanceof ReadingFailure ? error.reason : `${error}`;
}

const textsOf = (read: PromiseSettledResult<ReadDocument>) =>
  read.status === "fulfilled" ? read.value.pages.map(textOf) : read.reason;

test("documents are read in turn, and a failure costs only its own", async () => {
  const pdf = makePdf([[["First", 10]], [["Second", 10]]], { title: "Two pages" });
  const [first, second, third] = await Promise.allSettled([
    reader.read({ kind: "pdf", bytes: pdf }),
    reader.read({ kind: "docx", bytes: makeDocx("").subarray(0, 100) }),
    reader.read({ kind: "text", bytes: Buffer.from("gr\xfcn", "latin1"), charset: "iso-8859-1" }),
  ]);
  expect(first).toMatchObject({ value: { title: "Two pages", pages: [{ number: 1 }, { number: 2 }] } });
  expect(textsOf(first)).toEqual(["First", "Second"]);
  expect(second).toMatchObject({
    reason: { message: "This document is broken: it could not be opened. Save it again in the program that made it." },
  });
  expect(third).toMatchObject({ value: { title: null, pages: [{ number: null }] } });
  expect(textsOf(third)).toEqual(["grün"]);
  expect(logged).toEqual([{ event: "document not read", kind: "docx", why: "broken" }]);
});

test("characters and pages come back whole, however long the text is", async () => {
  const text = `${'Grüße 😀 aus "Köln". '.repeat(20_000)}Ende`;
  const { pages } = await reader.read({ kind: "text", bytes: Buffer.from(text), charset: "--help" });
  expect(pages.map(textOf).join() === text).toBe(true);
});

test("a text is never joined: of 20 MB, that alone takes tens of milliseconds", async () => {
  const { pages } = await reader.read({ kind: "text", bytes: Buffer.from("word ".repeat(20_000)) });
  expect(pages[0]?.markdown).toBeInstanceOf(PiecedText);
});

test("what takes too long, too much memory or says too much is ended with its reason", async () => {
  expect(await whyNot(deep, { timeoutMs: 200 })).toBe("time");
  expect(await whyNot(deep, { memoryBytes: 1024 * 1024 })).toBe("memory");
  expect(await whyNot({ kind: "text", bytes: Buffer.from("word ".repeat(1000)) }, { outputBytes: 1000 })).toBe("long");
});

test("a process that ends early or talks nonsense is a reader that broke off", async () => {
  const text: Document = { kind: "text", bytes: Buffer.from("words") };
  expect(await whyNot(text, { command: ["/bin/false"] })).toBe("crashed");
  expect(await whyNot(text, { command: ["/bin/echo"] })).toBe("crashed");
  expect(await whyNot({ ...text, bytes: new Uint8Array(10_000_000) }, { command: ["/bin/true"] })).toBe("crashed");
});

test("a signal ends reading and waiting, and closing ends both too", async () => {
  const own = openDocumentReader(log);
  const stop = new AbortController();
  const running = own.read(deep, stop.signal).catch((reason: unknown) => reason);
  const waiting = own.read(deep).catch((reason: unknown) => reason);
  stop.abort(new Error("called off"));
  expect(String(await running)).toBe("Error: called off");
  await own.close();
  expect(String(await waiting)).toBe("Error: the server is stopping");
  await expect(own.read(deep)).rejects.toThrow("the server is stopping");
});

test.if(process.platform === "linux")(
  "a confined process has no network, no files and no other processes",
  async () => {
    await using server = {
      listening: Bun.serve({ port: 0, fetch: () => new Response() }),
      [Symbol.asyncDispose]() {
        return this.listening.stop(true);
      },
    };
    const script = `${import.meta.dir}/../../support/confined-process.ts`;
    const child = Bun.spawn([process.execPath, script, String(server.listening.port)], { stdout: "pipe" });
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
      isConfined: true,
      connects: false,
      reads: false,
      runs: false,
      kills: false,
      computes: true,
    });
  },
);

const png = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
const docx = makeDocx("");
test.each([
  ["a PDF called text", "text/plain", "a.txt", "%PDF-1.7 …", "pdf"],
  ["a Word document called anything", null, "upload", docx, "docx"],
  ["a Word document with a password", null, "a.docx", Buffer.from("d0cf11e0a1b11ae1", "hex"), "docx"],
  ["a broken file called PDF", "application/pdf", "a.pdf", "nothing", "pdf"],
  ["another archive", "application/zip", "a.zip", docx.subarray(0, 60), null],
  ["a picture called text", "text/plain", "a.txt", png, null],
  ["Markdown", "application/octet-stream", "README.MD", "# Hello", "markdown"],
  ["a table", "application/vnd.ms-excel", "prices.csv", "a;b", "csv"],
  ["a page by its content type", "text/html; charset=utf-8", "index.php", "Hello", "html"],
  ["a page under the name of Markdown", "text/html", "/guide.md", "<!DOCTYPE html><p>Hi", "html"],
  ["a page that nothing tells", "application/octet-stream", null, "\ufeff<!-- x --><html>", "html"],
  ["text that nothing tells", null, "LICENSE", "MIT", "text"],
  ["UTF-16", "text/plain", "a.txt", Buffer.from("\ufeffhello", "utf16le"), "text"],
  ["an empty text", "text/plain", "a.txt", "", "text"],
  ["another format in text", "application/json", "a.json", "{}", null],
  ["another type of text", "text/css", "style", "p{}", null],
])("%s is of its kind", (_, contentType, name, content, kind) => {
  expect(findKind(contentType, name, Buffer.from(content as string))).toBe(kind as ReturnType<typeof findKind>);
});
