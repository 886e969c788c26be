/** Which kind of document some bytes are: by what they begin with first, then by their name, then by what they came as. */

export type DocumentKind = "pdf" | "docx" | "html" | "markdown" | "text" | "csv";

const byExtension: Readonly<Record<string, DocumentKind>> = {
  pdf: "pdf",
  docx: "docx",
  html: "html",
  htm: "html",
  xhtml: "html",
  md: "markdown",
  markdown: "markdown",
  txt: "text",
  text: "text",
  log: "text",
  csv: "csv",
  tsv: "csv",
};

const byMediaType: Readonly<Record<string, DocumentKind>> = {
  "application/pdf": "pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "markdown",
  "text/x-markdown": "markdown",
  "text/plain": "text",
  "text/csv": "csv",
  "text/tab-separated-values": "csv",
};

/** They do not describe the content. */
const vagueTypes = ["", "application/octet-stream", "binary/octet-stream"];

/** How far the bytes are examined; more would hold the event loop. */
const headBytes = 4096;
const tailBytes = 256 * 1024;

/**
 * Null for everything that is not read. The content type is the header as it came, or null; the name may be a path.
 * Broken files are of the kind that their name implies: reading them gives the sentence.
 */
export function findKind(contentType: string | null, fileName: string | null, bytes: Uint8Array): DocumentKind | null {
  const named = byExtension[findExtension(fileName)];
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const declared = named ?? byMediaType[mediaType];
  const head = Buffer.from(bytes.subarray(0, headBytes));
  const magic = findMagic(head, bytes);
  if (magic !== null) return magic;
  if (declared === "pdf" || declared === "docx") return declared;
  if (!looksLikeText(head)) return null;
  // Sites serve pages under names such as `guide.md`.
  if (byMediaType[mediaType] === "html" && looksLikeHtml(head)) return "html";
  if (declared !== undefined) return declared;
  if (!vagueTypes.includes(mediaType)) return null;
  if (looksLikeHtml(head)) return "html";
  return findExtension(fileName) === "" ? "text" : null;
}

function findExtension(fileName: string | null): string {
  return /[^/\\]\.([a-z0-9]{1,12})$/i.exec(fileName ?? "")?.[1]?.toLowerCase() ?? "";
}

function findMagic(head: Buffer, bytes: Uint8Array): DocumentKind | null {
  // Readers take a PDF whose header stands anywhere in the first kilobyte.
  if (head.subarray(0, 1024).includes("%PDF-")) return "pdf";
  const start = head.toString("hex", 0, 4);
  if (start === "504b0304" && holds(bytes, Buffer.from("word/document"))) return "docx";
  // A Word document with a password is an OLE file around an encrypted package.
  if (start === "d0cf11e0" && holds(bytes, Buffer.from("EncryptedPackage", "utf16le"))) return "docx";
  return null;
}

function holds(bytes: Uint8Array, words: Buffer): boolean {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return all.subarray(0, tailBytes).includes(words) || all.subarray(-tailBytes).includes(words);
}

function looksLikeHtml(head: Buffer): boolean {
  const start = withoutZeros(head).replace(/^(?:\s|\uFEFF|ï»¿|ÿþ|þÿ|<\?xml[^>]*>|<!--[\s\S]*?-->)+/, "");
  return /^<(?:!doctype html|html|head|body|title|meta|article|main|div|h1|p)\b/i.test(start);
}

/** Also in UTF-16, with a mark or without one. */
function looksLikeText(head: Buffer): boolean {
  const text = withoutZeros(head);
  if (/^(?:ÿþ|þÿ)/.test(text)) return true;
  const zeros = head.length - text.length;
  const isUtf16 = zeros > head.length / 4;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is counted.
  const controls = text.match(/[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0;
  return controls + (isUtf16 ? 0 : zeros) <= Math.max(1, head.length / 100);
}

/** UTF-16 of most languages becomes readable so. */
function withoutZeros(head: Buffer): string {
  return head.toString("latin1").replaceAll("\0", "");
}
