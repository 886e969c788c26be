/** Knowledge of a companion in tests, indexed immediately by the words that the program itself would find. */
import type { Store, StoredChunk } from "../../src/contracts/store/store.ts";
import { openTermNumbers } from "../../src/core/knowledge/words/term-number.ts";
import { termsOfPassage } from "../../src/core/knowledge/words/terms.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { estimateTokens } from "../../src/domain/conversation.ts";
import { passagesPerBlock } from "../../src/domain/knowledge.ts";
import { systemIds } from "../../src/lib/ids.ts";
import { testContext } from "./app.ts";
import { newSource } from "./indexed-source.ts";
import { buildPostings } from "./postings.ts";

export interface IndexedText {
  title: string;
  url?: string | null;
  /** A passage each. */
  passages: readonly (string | Partial<StoredChunk>)[];
}

/** Resolves with the source's id, when its passages answer. */
export async function indexText(
  { knowledge, serverSecrets }: Pick<Store, "knowledge" | "serverSecrets">,
  companion: Pick<Companion, "id" | "accountId">,
  { title, url = null, passages }: IndexedText,
): Promise<string> {
  const source = await knowledge.create(
    companion.accountId,
    companion.id,
    newSource({ id: systemIds.uuid(), title, url }),
    testContext(),
  );
  const nowMs = Date.now();
  const claimed = await knowledge.claim({ nowMs, leaseMs: 60_000, afterAccountId: null, exceptAccountIds: [] });
  if (source === null || claimed?.source.id !== source.id) throw new Error("somebody else reads the source");
  const edition = await knowledge.openEdition(claimed, null, nowMs);
  if (edition === null) throw new Error("the claim is outdated");

  const chunks = passages.map((passage) => ({
    ...{ page: null, heading: null, text: "" },
    ...(typeof passage === "string" ? { text: passage } : passage),
  }));
  const terms = chunks.map((chunk) => termsOfPassage({ ...chunk, title }));
  const place = { place: 0, url, title, contentHash: "hash", etag: null, lastModified: null };
  await knowledge.append(edition, { documents: [{ ...place, firstOrdinal: 0, chunks: chunks.length }] });
  const numberTerm = await openTermNumbers({ serverSecrets })();
  for (let first = 0; first < chunks.length; first += passagesPerBlock) {
    const block = first / passagesPerBlock;
    const lists = buildPostings(terms.slice(first, first + passagesPerBlock));
    await knowledge.append(edition, {
      parts: [{ firstOrdinal: first, chunks: chunks.slice(first, first + passagesPerBlock) }],
      postings: [...lists].map(([term, entries]) => ({ block, term: numberTerm(term), entries })),
    });
  }
  const text = chunks.map((chunk) => chunk.text).join("");
  const facts = {
    ...{ title, chunks: chunks.length, bytes: Buffer.byteLength(text), contentHash: "hash", notice: null },
    tokens: chunks.reduce((sum, chunk) => sum + estimateTokens(chunk.text), 0),
    words: terms.reduce((sum, { length }) => sum + length, 0),
    refreshAt: null,
  };
  const verdict = await knowledge.publish(claimed, edition, facts, nowMs);
  if (verdict !== "published") throw new Error(verdict);
  return source.id;
}
