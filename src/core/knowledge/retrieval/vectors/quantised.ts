/** Vectors as they are stored: a byte for each dimension, and a scale. */

/** What a vector takes beyond a byte for each dimension: its scale, a little-endian 32-bit float, behind them. */
export const scaleBytes = 4;

export interface QuantisedVector {
  readonly bytes: Int8Array;
  /** What one step of a byte is worth, in a vector of length 1. */
  readonly scale: number;
}

/** Of length 1, so that a dot product is the cosine of the angle. A vector without a direction is near to nothing. */
export function quantise(vector: Float32Array): QuantisedVector {
  let squares = 0;
  let largest = 0;
  for (const value of vector) {
    squares += value * value;
    largest = Math.max(largest, Math.abs(value));
  }
  const bytes = new Int8Array(vector.length);
  if (squares === 0 || !Number.isFinite(squares)) return { bytes, scale: 0 };
  for (let i = 0; i < vector.length; i++) bytes[i] = Math.round(((vector[i] ?? 0) / largest) * 127);
  return { bytes, scale: largest / 127 / Math.sqrt(squares) };
}

/** A block for the store; all vectors have the same dimensions. */
export function packVectors(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]?.length ?? 0;
  const stride = dimensions + scaleBytes;
  const packed = new Uint8Array(vectors.length * stride);
  const view = new DataView(packed.buffer);
  for (const [index, vector] of vectors.entries()) {
    const { bytes, scale } = quantise(vector);
    packed.set(new Uint8Array(bytes.buffer), index * stride);
    view.setFloat32(index * stride + dimensions, scale, true);
  }
  return packed;
}
