/** Compares a question with the vectors of passages, all of them, in slices: exact, and fast enough for 20 000. */
import type { VectorBlock } from "../../../../contracts/store/store.ts";
import { Slices } from "../../../../lib/pause.ts";
import type { Ranked } from "../bm25.ts";
import { type DotProducts, kernelBytes, openKernel } from "./kernel.ts";
import { type QuantisedVector, quantise, scaleBytes } from "./quantised.ts";

/** The best of one question. */
export interface Nearest {
  /** The best first; scores are cosines, 1 for the same direction. */
  readonly ranked: readonly Ranked[];
  /** Of all passages. */
  readonly mean: number;
  readonly passages: number;
}

export class VectorScan {
  readonly #dot: DotProducts = openKernel();
  readonly #queries: { readonly vector: QuantisedVector; readonly best: Ranked[]; sum: number }[];
  readonly #dimensions: number;
  readonly #limit: number;
  readonly #slices = new Slices();
  #passages = 0;

  /** All of one dimension. */
  constructor(queries: readonly Float32Array[], limit: number) {
    this.#queries = queries.map((query) => ({ vector: quantise(query), best: [], sum: 0 }));
    this.#dimensions = queries[0]?.length ?? 0;
    this.#limit = limit;
  }

  async add(edition: number, blocks: readonly VectorBlock[]): Promise<void> {
    const stride = this.#dimensions + scaleBytes;
    const perSlice = Math.max(1, Math.floor(kernelBytes / stride));
    for (const { firstOrdinal, vectors } of blocks) {
      const count = Math.floor(vectors.length / stride);
      for (let at = 0; at < count; at += perSlice) {
        if (this.#slices.isOver) await this.#slices.pause();
        const part = vectors.subarray(at * stride, Math.min(count, at + perSlice) * stride);
        this.#compare(edition, firstOrdinal + at, part, stride);
      }
      this.#passages += count;
    }
  }

  /** One for each question, in their order. */
  finish(): Nearest[] {
    const passages = this.#passages;
    return this.#queries.map(({ best, sum }) => ({ ranked: best, mean: sum / Math.max(1, passages), passages }));
  }

  #compare(edition: number, firstOrdinal: number, part: Uint8Array, stride: number): void {
    const scales = new DataView(part.buffer, part.byteOffset, part.length);
    for (const query of this.#queries) {
      const products = this.#dot(query.vector.bytes, part, stride);
      let worst = query.best.length < this.#limit ? -2 : (query.best.at(-1)?.score ?? -2);
      for (let i = 0; i < products.length; i++) {
        const scale = scales.getFloat32(i * stride + this.#dimensions, true);
        const score = (products[i] ?? 0) * scale * query.vector.scale;
        query.sum += score;
        if (score <= worst) continue;
        insert(query.best, { edition, ordinal: firstOrdinal + i, score }, this.#limit);
        if (query.best.length === this.#limit) worst = query.best.at(-1)?.score ?? -2;
      }
    }
  }
}

/** Behind those of the same score. */
function insert(best: Ranked[], ranked: Ranked, limit: number): void {
  let position = best.length;
  while (position > 0 && (best[position - 1]?.score ?? 0) < ranked.score) position--;
  best.splice(position, 0, ranked);
  if (best.length > limit) best.pop();
}
