/**
 * Collects bytes that arrive in chunks of any size, such as a body's. One-byte chunks take no more memory than large
 * ones.
 */

const smallestBlockBytes = 1024;
const largestBlockBytes = 64 * 1024;

/** Allocates at most 64 KiB more than it holds. */
export class GatheredBytes {
  #length = 0;
  readonly #full: Uint8Array[] = [];
  #block = new Uint8Array(0);
  #blockLength = 0;

  get length(): number {
    return this.#length;
  }

  /** Copies the chunk: every chunk is an object that takes a hundred times the memory of a byte. */
  add(piece: Uint8Array): void {
    let from = 0;
    while (from < piece.length) {
      if (this.#blockLength === this.#block.length) this.#addBlock();
      const end = Math.min(piece.length, from + this.#block.length - this.#blockLength);
      this.#block.set(piece.subarray(from, end), this.#blockLength);
      this.#blockLength += end - from;
      from = end;
    }
    this.#length += piece.length;
  }

  /** In order; shares memory with the collector. */
  get blocks(): readonly Uint8Array[] {
    return [...this.#full, this.#block.subarray(0, this.#blockLength)];
  }

  #addBlock(): void {
    const held = this.#block.length;
    if (held > 0) this.#full.push(this.#block);
    this.#block = new Uint8Array(Math.min(largestBlockBytes, Math.max(smallestBlockBytes, held * 2)));
    this.#blockLength = 0;
  }
}
