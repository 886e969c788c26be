/** Rules of visitor keys that hold in both databases. */
import { mostCompared, type VisitorKey } from "../../../contracts/store/visitor-keys.ts";
import { coversFacts, factsOfFilter } from "../../../domain/visitor.ts";
import { sha256Hex } from "../../../lib/sha256.ts";

export type VisitorKeyFacts = Pick<VisitorKey, "id" | "name" | "algorithm" | "metadata">;

/** One more is read, so that more are noticed. */
export const mostCandidates = mostCompared + 1;

/** As they are indexed: with the account, so that each query has one index to go by. */
export function indexFacts(accountId: string, facts: readonly string[]): string[] {
  return facts.map((fact) => `${accountId} ${fact}`);
}

export function indexFilter(accountId: string, { metadata }: Pick<VisitorKey, "metadata">) {
  const facts = indexFacts(accountId, factsOfFilter(metadata));
  return { facts, filterHash: sha256Hex(JSON.stringify(facts)) };
}

/** `candidates`: the live keys that are found under any of the facts. */
export function pickOnly(candidates: readonly VisitorKey[], facts: readonly string[]): VisitorKey | null {
  if (candidates.length > mostCompared) return null;
  const has = new Set(facts);
  const [only = null, ...others] = candidates.filter(({ metadata }) => coversFacts(metadata, has));
  return others.length === 0 ? only : null;
}

export function describeVisitorKey({ name, algorithm, metadata }: VisitorKeyFacts): Record<string, string> {
  return { name, algorithm, ...(metadata === null ? {} : { metadata: JSON.stringify(metadata) }) };
}
