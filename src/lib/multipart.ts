/** Bodies of type `multipart/form-data` (RFC 7578), as browsers, curl and the usual libraries send them. */

export interface FormPart {
  readonly name: string;
  /** Null for a field. */
  readonly fileName: string | null;
  readonly contentType: string | null;
  /** Shares memory with the body. */
  readonly content: Uint8Array;
}

/** The sentence describes the fault of the body, for its sender. */
export class MultipartFault extends Error {}

const headerBytes = 8 * 1024;

/** The `boundary` of a content type; null if it names none that RFC 2046 allows. */
export function findBoundary(contentType: string): string | null {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? "";
  return /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary) ? boundary : null;
}

/** The parts in order, at most `maxParts`. Throws `MultipartFault`. */
export function parseMultipart(body: Uint8Array, boundary: string, maxParts: number): FormPart[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const parts: FormPart[] = [];
  // The first delimiter may stand without the line break that belongs to all others.
  const isFirst = bytes.subarray(0, delimiter.length - 2).equals(delimiter.subarray(2));
  let at = isFirst ? delimiter.length - 2 : endOf(bytes, delimiter, 0);
  while (!isClosed(bytes, at)) {
    if (parts.length === maxParts) throw new MultipartFault(`The form has more than ${maxParts} parts.`);
    const start = skipLineEnd(bytes, at);
    const contentStart = endOf(bytes, blankLine, start, start + headerBytes);
    const end = bytes.indexOf(delimiter, contentStart - 2);
    if (end === -1) throw cut();
    const head = bytes.toString("utf8", start, contentStart);
    parts.push({ ...readHead(head), content: bytes.subarray(contentStart, Math.max(contentStart, end)) });
    at = end + delimiter.length;
  }
  return parts;
}

const blankLine = Buffer.from("\r\n\r\n");
const cut = () => new MultipartFault("The form is cut off, or is not multipart/form-data.");

/** Behind the next occurrence. */
function endOf(bytes: Buffer, wanted: Buffer, from: number, before = bytes.length): number {
  const found = bytes.subarray(0, before).indexOf(wanted, from);
  if (found === -1) throw cut();
  return found + wanted.length;
}

function isClosed(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x2d && bytes[at + 1] === 0x2d;
}

/** To the line break, whose bytes are those with which a part without headers would begin its blank line. */
function skipLineEnd(bytes: Buffer, at: number): number {
  let end = at;
  while (bytes[end] === 0x20 || bytes[end] === 0x09) end++;
  if (bytes[end] !== 0x0d || bytes[end + 1] !== 0x0a) throw cut();
  return end;
}

function readHead(head: string): Omit<FormPart, "content"> {
  const lines = head.split("\r\n").filter((line) => line !== "");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const name = findParameter(disposition, "name");
  if (!/^form-data\s*;/i.test(disposition) || name === null) {
    throw new MultipartFault("Each part of a form needs a Content-Disposition with a name.");
  }
  if (!/^(|binary|8bit|7bit)$/i.test(headers.get("content-transfer-encoding") ?? "")) {
    throw new MultipartFault("Send the parts of a form as they are, without a Content-Transfer-Encoding.");
  }
  const fileName = findExtended(disposition) ?? findParameter(disposition, "filename");
  return { name, fileName, contentType: headers.get("content-type") ?? null };
}

function findParameter(header: string, name: string): string | null {
  const [, quoted, plain] = new RegExp(`;\\s*${name}=(?:"((?:\\\\"|[^"])*)"|([^\\s;"]+))`, "i").exec(header) ?? [];
  const text = quoted?.replaceAll('\\"', '"') ?? plain ?? null;
  // As browsers escape them.
  return text?.replace(/%(22|0D|0A)/gi, (escaped) => decodeURIComponent(escaped)) ?? null;
}

/** `filename*=UTF-8''…` (RFC 8187): not for forms, but some libraries send it for names that are not ASCII. */
function findExtended(header: string): string | null {
  const [, encoded] = /;\s*filename\*=utf-8'[^']*'([^\s;]+)/i.exec(header) ?? [];
  try {
    return encoded === undefined ? null : decodeURIComponent(encoded);
  } catch {
    return null;
  }
}
