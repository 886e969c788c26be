/** Embeddings of the mock provider: vectors of words, so that texts with the same words are near one another. */
import type { MockRequest, Responder } from "./mock-llm-replies.ts";

export interface MockEmbeddingOptions {
  dimensions?: number;
  /** As the request asks for it, unless given. */
  format?: "base64" | "numbers";
}

/** What the mock counts for a text. */
export const mockEmbeddingTokens = (text: string): number => text.length;

/** The same text has the same vector everywhere. */
export function mockVector(text: string, dimensions = 64): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = Bun.hash.crc32(word);
    for (let i = 0; i < 4; i++) {
      const at = (hash >>> (8 * i)) % dimensions;
      vector[at] = (vector[at] ?? 0) + (i % 2 === 0 ? 1 : -1);
    }
  }
  return vector;
}

export function isEmbeddingRequest({ path }: Pick<MockRequest, "path">): boolean {
  return path.endsWith("/embeddings");
}

/** Answers requests to `/embeddings`. */
export function respondWithEmbeddings({ dimensions, format }: MockEmbeddingOptions = {}): Responder {
  return ({ body }, response) => {
    const texts = Array.isArray(body.input) ? body.input.map(String) : [];
    const isBase64 = (format ?? body.encoding_format) === "base64";
    const data = texts.map((text, index) => {
      const vector = mockVector(text, dimensions);
      const embedding = isBase64 ? Buffer.from(vector.buffer).toString("base64") : [...vector];
      return { object: "embedding", index, embedding };
    });
    const tokens = texts.reduce((sum, text) => sum + mockEmbeddingTokens(text), 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    const answer = { object: "list", data, model: body.model, usage };
    response.send(200, { "Content-Type": "application/json" }, JSON.stringify(answer));
  };
}
