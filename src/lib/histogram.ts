/** A histogram in plain numbers: an observation costs a short search and is not stored. */

/** The observations so far. */
export interface HistogramCounts {
  /** Upper bounds of the buckets, ascending. One more bucket follows, without a bound. */
  readonly bounds: readonly number[];
  /** Observations per bucket, not cumulative; one more entry than `bounds`. */
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

export class Histogram implements HistogramCounts {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}
