/**
 * A model that turns texts into vectors, so that texts of like meaning are near one another.
 *
 * `app/llm.ts` opens it where the operator has named a model; `test/contracts/embeddings.ts` checks its engine.
 */

export interface EmbeddedTexts {
  /** One for each text, in the order of the texts; all of one dimension, finite, of any length. */
  readonly vectors: readonly Float32Array[];
  /** What the provider counted; where it sent no usage, UTF-8 bytes / 4. */
  readonly tokens: number;
}

/** The calls of one `embed`: retries, and one more where a parameter is refused. */
export interface EmbeddingCalls {
  /** Asked before each but the first; false: there is none, and `embed` rejects with why the one before failed. */
  permit(): Promise<boolean>;
  /** One has ended without vectors, and the provider may charge for it. */
  noteUncounted(): void;
}

export interface EmbeddingProvider {
  /** Under which usage counts its tokens, together with `model`. */
  readonly name: string;
  /** As the provider calls it. Vectors of different models do not compare. */
  readonly model: string;
  /**
   * How many texts `embed` takes in one call. It may become smaller when the provider shows that it answers at greater
   * length, so it is read before each call.
   */
  readonly maxTexts: number;
  /**
   * Embeds from one up to `maxTexts` texts, none of them empty. Of a text longer than `maxEmbeddedLength`, the beginning
   * is embedded: models refuse what is too long for them.
   *
   * - A failure (refused, 4xx, 5xx, malformed, the wrong number of vectors, different dimensions, no finite numbers, no
   *   response within 60 s) rejects with `AppError("upstream_error")`: public sentence, private cause without a word of
   *   the texts. Connection errors, 429 and 5xx are retried twice with back-off before that, all within the same 60 s; a
   *   `Retry-After` is respected up to 5 s. What the provider counted for a call that failed is not known: `calls` is
   *   notified where it may charge for one.
   * - `signal` ends it immediately, at any point: the provider's connection is closed, and the call rejects with the
   *   signal's reason.
   *
   * Any number of calls may run concurrently. Texts are never logged.
   */
  embed(texts: readonly string[], signal: AbortSignal, calls?: EmbeddingCalls): Promise<EmbeddedTexts>;
  /** Closes idle connections. Callers abort running calls. */
  close(): void;
}

/** In UTF-16 units. A few more tokens than characters is the worst that any language does; models take about 8 000. */
export const maxEmbeddedLength = 6000;
