/** Money, exactly: what providers cost the operator, in millionths of a US dollar and of those again. */

/**
 * An exact, non-negative amount of US dollars: `micros` millionths, and `picos` millionths of a millionth beside them.
 * Stored sums add both without a carry, so that neither ever leaves what a double holds exactly.
 */
export interface Cost {
  readonly micros: number;
  readonly picos: number;
}

export const noCost: Cost = { micros: 0, picos: 0 };

export const picosPerMicro = 1_000_000;

/** Half a micro-dollar and more is rounded up. */
export function roundToMicros({ micros, picos }: Cost): number {
  const rest = picos % picosPerMicro;
  return micros + wholeMicros(picos) + (rest * 2 >= picosPerMicro ? 1 : 0);
}

/** Rounded up: for what is reserved, which must never be too little. */
export function ceilToMicros({ micros, picos }: Cost): number {
  return micros + wholeMicros(picos) + (picos % picosPerMicro > 0 ? 1 : 0);
}

/** A division alone would round large sums to a wrong half. */
function wholeMicros(picos: number): number {
  return (picos - (picos % picosPerMicro)) / picosPerMicro;
}
