/** What every engine of embeddings owes its callers, whatever answers behind it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { EmbeddingProvider } from "../../src/contracts/llm/embeddings.ts";

export interface EmbeddingsUnderTest {
  /** Its vectors must differ from text to text. */
  provider: EmbeddingProvider;
  close(): Promise<void>;
}

export function testEmbeddings(name: string, open: () => Promise<EmbeddingsUnderTest>): void {
  describe(`${name} as a provider of embeddings`, () => {
    let opened: EmbeddingsUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    test("gives each text its vector, in order, and counts tokens", async () => {
      const { provider } = opened;
      const texts = Array.from({ length: provider.maxTexts }, (_, index) => `word${index} grüße 🙂`);
      const { signal } = new AbortController();
      const { vectors, tokens } = await provider.embed(texts, signal);
      expect(vectors).toHaveLength(texts.length);
      expect(new Set(vectors.map((vector) => vector.length)).size).toBe(1);
      expect(vectors.every((vector) => vector.every(Number.isFinite))).toBe(true);
      expect(tokens).toBeGreaterThan(0);
      const last = await provider.embed(texts.slice(-1), signal);
      expect(last.vectors[0]).toEqual(vectors.at(-1));
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });

    test("rejects with the signal's reason", async () => {
      const reason = new Error("left");
      await expect(opened.provider.embed(["hello"], AbortSignal.abort(reason))).rejects.toBe(reason);
      const controller = new AbortController();
      const embedding = opened.provider.embed(["hello"], controller.signal);
      controller.abort(reason);
      await expect(embedding).rejects.toBe(reason);
    });

    test("embeds the beginning of what is too long", async () => {
      const { vectors } = await opened.provider.embed([`a ${"b ".repeat(10_000)}`], new AbortController().signal);
      expect(vectors).toHaveLength(1);
    });
  });
}
