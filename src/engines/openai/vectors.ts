/** Reads a response of the embeddings endpoint: vectors as bytes in base64, or as numbers where a provider knows no other. */

import type { EmbeddedTexts } from "../../contracts/llm/embeddings.ts";
import { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import { isJsonObject } from "../../domain/json.ts";

export interface ReadVectors extends EmbeddedTexts {
  /** Whether the provider wrote them as numbers. */
  readonly areNumbers: boolean;
}

/** More than any model has; each passage is stored with its vector. */
const maxDimensions = 8192;

/** Throws a `ProviderFailure` if these are not the vectors of the texts. */
export function readVectors(response: string, texts: readonly string[]): ReadVectors {
  const body = parse(response);
  const { data, usage } = isJsonObject(body) ? body : {};
  if (!Array.isArray(data)) throw new ProviderFailure("the response has no list of embeddings");
  if (data.length !== texts.length) {
    throw new ProviderFailure(`the response has ${data.length} embeddings for ${texts.length} texts`);
  }
  const vectors: (Float32Array | undefined)[] = new Array(texts.length).fill(undefined);
  let areNumbers = false;
  for (const [position, entry] of data.entries()) {
    const { embedding, index = position } = isJsonObject(entry) ? entry : {};
    if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined) {
      throw new ProviderFailure("the embeddings are not one for each text");
    }
    if (typeof embedding !== "string") areNumbers = true;
    vectors[index] = readVector(embedding);
  }
  const whole = vectors.filter((vector) => vector !== undefined);
  const dimensions = whole[0]?.length;
  if (whole.some((vector) => vector.length !== dimensions)) {
    throw new ProviderFailure("the embeddings have different dimensions");
  }
  return { vectors: whole, tokens: readTokens(usage) ?? estimateTokens(texts), areNumbers };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ProviderFailure("the response is not JSON");
  }
}

function readVector(embedding: unknown): Float32Array {
  const vector = typeof embedding === "string" ? readBytes(embedding) : readNumbers(embedding);
  if (vector.length === 0 || vector.length > maxDimensions) {
    throw new ProviderFailure(`an embedding has ${vector.length} dimensions`);
  }
  // What no 32-bit number holds has become infinite.
  if (!vector.every(Number.isFinite)) throw new ProviderFailure("an embedding has what is no number");
  return vector;
}

/** Little-endian, as every machine is that this runs on. */
function readBytes(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length % 4 !== 0 || bytes.length === 0) throw new ProviderFailure("an embedding is no list of numbers");
  // Copied: the buffer may begin at any byte of a shared one.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

function readNumbers(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding) || !embedding.every((value) => typeof value === "number")) {
    throw new ProviderFailure("an embedding is no list of numbers");
  }
  return Float32Array.from(embedding);
}

function readTokens(usage: unknown): number | null {
  const { prompt_tokens: prompt, total_tokens: total } = isJsonObject(usage) ? usage : {};
  const counted = prompt ?? total;
  return Number.isSafeInteger(counted) && Number(counted) >= 0 ? Number(counted) : null;
}

function estimateTokens(texts: readonly string[]): number {
  return Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 4);
}
