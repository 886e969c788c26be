/**
 * Parses one HTTP/1.1 response from the chunks in which it arrives; no I/O. Bytes are characters 0 to 255 throughout.
 */

export interface ResponseHead {
  status: number;
  /** Names in lower case; of repeated ones the last. */
  headers: ReadonlyMap<string, string>;
}

const maxHeadBytes = 64 * 1024;
const maxSizeLineBytes = 1024;

type State = "head" | "length" | "size" | "chunk" | "chunk-end" | "trailers" | "until-close" | "done";

/** The response violates the protocol; the connection cannot be used any more. */
export class HttpProtocolError extends Error {
  constructor(message: string) {
    super(`not an HTTP/1.1 response: ${message}`);
    this.name = "HttpProtocolError";
  }
}

export class ResponseReader {
  /** Set once it has been read; its user may clear it. */
  head: ResponseHead | null = null;
  /** Whether the connection may be reused once the response is complete. */
  canReuse = false;
  /** A protocol violation. Body bytes before it still count, wherever the network split the data. */
  failure: HttpProtocolError | null = null;
  /** Whether there were bytes beyond the response. */
  hasSurplus = false;
  /** Whether nothing has arrived yet. */
  isUntouched = true;
  #state: State = "head";
  /** The start of a head, size line or line end that a read cut off. */
  #rest = "";
  #leftBytes = 0;
  /** Of heads before the actual one, and of trailers: peers could send them without end, and none goes to a reader. */
  #asideBytes = 0;
  readonly #takesCompressed: boolean;

  /** Compressed bodies are handed on as they are, or refused: who did not ask for them cannot read them. */
  constructor({ takesCompressed = false } = {}) {
    this.#takesCompressed = takesCompressed;
  }

  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Takes the data of one read and returns the part of it that is body; ignores everything after a `failure`. */
  push(read: string): string {
    if (this.failure !== null) return "";
    this.isUntouched = false;
    let input = read;
    if (this.#rest !== "") {
      input = this.#rest + read;
      this.#rest = "";
    }
    let body = "";
    let at = 0;
    while (at < input.length) {
      switch (this.#state) {
        case "length":
        case "chunk": {
          const end = Math.min(input.length, at + this.#leftBytes);
          body += input.substring(at, end);
          this.#leftBytes -= end - at;
          at = end;
          if (this.#leftBytes === 0) this.#state = this.#state === "chunk" ? "chunk-end" : "done";
          break;
        }
        case "until-close":
          body += input.substring(at);
          at = input.length;
          break;
        case "done":
          // Unrequested bytes must not pass for the next response.
          this.canReuse = false;
          this.hasSurplus = true;
          at = input.length;
          break;
        default: {
          const next = this.#tryLine(input, at);
          if (next === -1) {
            this.#rest = input.substring(at);
            return body;
          }
          at = next;
        }
      }
    }
    return body;
  }

  /** The peer closed: returns whether the response is complete. */
  finish(): boolean {
    if (this.#state === "until-close") this.#state = "done";
    return this.#state === "done";
  }

  #tryLine(input: string, at: number): number {
    try {
      return this.#readLine(input, at);
    } catch (error) {
      if (!(error instanceof HttpProtocolError)) throw error;
      this.failure = error;
      return -1;
    }
  }

  /** Handles the head or a line of the chunked coding; returns where the next begins, or -1 if this one is cut off. */
  #readLine(input: string, at: number): number {
    switch (this.#state) {
      case "head": {
        const end = input.indexOf("\r\n\r\n", at);
        if ((end === -1 ? input.length : end) - at > maxHeadBytes) throw new HttpProtocolError("its head is too large");
        if (end === -1) return -1;
        this.#readHead(input.substring(at, end));
        if (this.#state === "head") this.#countAside(end + 4 - at);
        return end + 4;
      }
      case "chunk-end":
        if (input.length - at < 2) return -1;
        if (!input.startsWith("\r\n", at)) throw new HttpProtocolError("a chunk is longer than its size");
        this.#state = "size";
        return at + 2;
      default: {
        const end = input.indexOf("\r\n", at);
        if ((end === -1 ? input.length : end) - at > maxSizeLineBytes)
          throw new HttpProtocolError("a line is too long");
        if (end === -1) return -1;
        if (this.#state === "trailers") {
          this.#countAside(end + 2 - at);
          if (end === at) this.#state = "done";
        } else {
          this.#leftBytes = parseChunkSize(input, at, end);
          this.#state = this.#leftBytes === 0 ? "trailers" : "chunk";
        }
        return end + 2;
      }
    }
  }

  #countAside(bytes: number): void {
    this.#asideBytes += bytes;
    if (this.#asideBytes > maxHeadBytes) throw new HttpProtocolError("too much beside the response");
  }

  #readHead(text: string): void {
    const [statusLine = "", ...lines] = text.split("\r\n");
    const match = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(statusLine);
    if (match === null) throw new HttpProtocolError("no status line");
    const status = Number(match[2]);
    // 100 and 103 precede the actual response; 101 was never requested.
    if (status < 200 && status !== 101) return;

    const headers = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon < 1) throw new HttpProtocolError("a header without a name");
      const name = line.substring(0, colon).toLowerCase();
      const value = line.substring(colon + 1).trim();
      if (name === "content-length" && headers.has(name) && headers.get(name) !== value)
        throw new HttpProtocolError("two lengths");
      headers.set(name, value);
    }
    this.#chooseFraming(status, headers, match[1] === "1");
    this.head = { status, headers };
  }

  #chooseFraming(status: number, headers: ReadonlyMap<string, string>, isHttp11: boolean): void {
    this.canReuse = isHttp11 && !/\bclose\b/i.test(headers.get("connection") ?? "");
    if (!this.#takesCompressed && !/^(identity)?$/i.test(headers.get("content-encoding") ?? ""))
      throw new HttpProtocolError("compressed, which was not asked for");
    const coding = headers.get("transfer-encoding");
    const length = headers.get("content-length");
    if (status === 204 || status === 304) {
      this.#state = "done";
    } else if (coding !== undefined) {
      // With both, readers disagree about the end of the response, and would continue at different positions.
      if (length !== undefined) throw new HttpProtocolError("two headers that give its length");
      if (coding.toLowerCase() !== "chunked") throw new HttpProtocolError("an unknown transfer coding");
      this.#state = "size";
    } else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw new HttpProtocolError("a malformed length");
      this.#leftBytes = Number(length);
      this.#state = this.#leftBytes === 0 ? "done" : "length";
    } else {
      this.canReuse = false;
      this.#state = "until-close";
    }
  }
}

/** Up to eight hexadecimal digits; white space or an extension may follow. Written by hand, as every read has one. */
function parseChunkSize(input: string, start: number, end: number): number {
  let size = 0;
  let at = start;
  for (; at < end; at++) {
    const digit = hexValue(input.charCodeAt(at));
    if (digit === -1) break;
    size = size * 16 + digit;
  }
  const digits = at - start;
  while (at < end && isBlank(input.charCodeAt(at))) at++;
  if (digits === 0 || digits > 8 || (at < end && input[at] !== ";"))
    throw new HttpProtocolError("a malformed chunk size");
  return size;
}

/** -1 if it is not a digit. */
function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  // Sets the bit that distinguishes lower case from upper case.
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
