/** What knowledge is asked, and what it answers. */
import type { LiveEdition } from "../../../contracts/store/store.ts";
import type { Companion } from "../../../domain/companion.ts";
import type { NumberedPassage } from "../../../domain/knowledge.ts";
import type { StopSignal } from "../../../lib/stop-signal.ts";
import type { Ranked } from "./bm25.ts";

export interface KnowledgeQuestion {
  readonly companion: Companion;
  /** The visitor's message: what is to be found. */
  readonly last: string;
  /** The visitor's message before it, which gives the subject of a short one; null for none. */
  readonly previous: string | null;
  /** Aborts calls of a provider; null: nothing does. */
  readonly signal: StopSignal | null;
}

export interface FoundPassage extends NumberedPassage {
  /** Higher is better; 0 where all knowledge goes whole. */
  readonly score: number;
}

export interface Found {
  /** Numbered from 1: the best first, or all of them in their order. */
  readonly passages: readonly FoundPassage[];
  /** Whether the knowledge is so small that a chat gets all of it. */
  readonly isWhole: boolean;
  /** Whether a passage speaks of what the last message is about. */
  readonly isFound: boolean;
  /** The last message is no question to the knowledge. */
  readonly isSmallTalk: boolean;
  /** The words of the last message that name what it asks, as the index has them. */
  readonly topic: ReadonlySet<string>;
}

export interface KnowledgeFinder {
  /** What goes to the model. Rejects as the store does. */
  find(question: KnowledgeQuestion): Promise<Found>;
  /** The best passages for a query, also of knowledge that goes whole. At most 100. */
  search(companion: Companion, query: string, limit: number): Promise<Found>;
}

/** A question to the meaning of passages. */
export interface NearQuestion extends KnowledgeQuestion {
  readonly editions: readonly LiveEdition[];
  readonly limit: number;
}

/** Passages by meaning. */
export interface NearPassages {
  /** Null if there are no vectors to compare with. The signal aborts once no one waits any more. */
  find(question: NearQuestion, signal: AbortSignal): Promise<NearFound | null>;
}

export interface NearFound {
  /** By both messages together; the best first. */
  readonly ranked: readonly Ranked[];
  /** Whether the last message alone is near to one of them. */
  readonly isNear: boolean;
}
