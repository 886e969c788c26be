/** Gives passages their vectors, after they answer by their words already: a provider that is away delays nothing. */

export interface EmbeddingPass {
  readonly model: string;
  /** Embeds what lacks vectors; resolves early where the provider fails, and then leaves it alone for a while. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** When to run again; null: when there is something new. */
  readonly retryAtMs: number | null;
}
