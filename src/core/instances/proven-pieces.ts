/**
 * The answer to one call between instances, in pieces that no one in between can change, reorder, leave out or take from
 * another answer: each carries an HMAC over itself and the one before, under a key that only this call has. A piece is its
 * length in bytes, that HMAC, a line break, and as many bytes of UTF-8. The last piece needs no mark: an answer shows
 * by its own end whether it is whole.
 */
import { isSameInConstantTime } from "../../lib/constant-time.ts";
import { findPieceEnd } from "../../lib/text-pieces.ts";

const maxPieceUnits = 32 * 1024;
/** UTF-8 has at most three bytes for one UTF-16 code unit. */
const maxPieceBytes = 3 * maxPieceUnits;
const headPattern = /^(\d{1,5}) ([\w-]{43})$/;
const maxHeadLength = 49;

function digest(answerKey: string, before: string, content: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256", answerKey).update(`${before}\n`).update(content).digest("base64url");
}

/** What the response's proof is: those parts of its head that mean something to the caller. */
export function proveHead(answerKey: string, status: number, retryAfter: string | null | undefined): string {
  return digest(answerKey, "head", `${status} ${retryAfter ?? ""}`);
}

export function isSameProof(left: string, right: string): boolean {
  return left.length === right.length && isSameInConstantTime(Buffer.from(left), Buffer.from(right));
}

/** For one body: makes pieces of the texts that it is given, in this order. */
export function createPieceWriter(answerKey: string): (text: string) => string {
  let last = "body";
  return (text) => {
    let pieces = "";
    for (let rest = text; rest !== ""; ) {
      const piece = rest.slice(0, findPieceEnd(rest, maxPieceUnits));
      rest = rest.slice(piece.length);
      last = digest(answerKey, last, piece);
      pieces += `${Buffer.byteLength(piece)} ${last}\n${piece}`;
    }
    return pieces;
  };
}

/** Takes one body as it arrives, and holds at most the piece that is not whole yet. */
export class PieceReader {
  readonly #answerKey: string;
  #last = "body";
  #rest = "";

  constructor(answerKey: string) {
    this.#answerKey = answerKey;
  }

  /** Whether everything received so far was whole pieces. */
  get isBetweenPieces(): boolean {
    return this.#rest === "";
  }

  /** What was proven meanwhile, null if nothing was; `bytes` are characters 0 to 255. Throws if a piece is another's. */
  take(bytes: string): Buffer | null {
    this.#rest += bytes;
    const proven: Buffer[] = [];
    for (let piece = this.#next(); piece !== null; piece = this.#next()) proven.push(piece);
    return proven.length === 0 ? null : Buffer.concat(proven);
  }

  #next(): Buffer | null {
    const headLength = this.#rest.indexOf("\n");
    if (headLength === -1 && this.#rest.length <= maxHeadLength) return null;
    const [, length = "", mac = ""] = headPattern.exec(this.#rest.slice(0, Math.max(headLength, 0))) ?? [];
    const end = headLength + 1 + Number(length);
    if (mac === "" || Number(length) > maxPieceBytes) throw new Error("what arrives is no piece of an answer");
    if (this.#rest.length < end) return null;
    const piece = Buffer.from(this.#rest.slice(headLength + 1, end), "latin1");
    this.#rest = this.#rest.slice(end);
    const expected = digest(this.#answerKey, this.#last, piece);
    if (!isSameProof(mac, expected)) throw new Error("a piece of the answer was changed in transit");
    this.#last = expected;
    return piece;
  }
}
