/**
 * Searches the texts of conversations, ignoring case. The comparison is made here: PostgreSQL's own depends on the
 * locale of the database, and on how the server was built.
 */
import type { Queries } from "./queries.ts";

/** Text that one query brings: a bound on memory, and on how long others wait. */
const bytesPerRead = 1_000_000;

interface TextRow {
  /** Counts the conversations that were asked for, from 1. */
  place: number;
  time: number;
  number: number;
  text: string;
}

const readTexts = `SELECT place, "time", number, "text" FROM read_texts($1::bigint[], $2, $3, ${bytesPerRead})`;
const newest = { time: Number.MAX_SAFE_INTEGER, number: 0 };

export interface SearchBounds {
  /** Matches to stop after. */
  wanted: number;
  /** Text to stop after, at the end of a conversation. */
  maxText: number;
}

export function createMessageSearch(queries: Queries) {
  /**
   * The matching conversations, in order; `read` is how much text that took, `last` the last one searched if it stopped
   * before the end.
   */
  return async <Row extends { number: number }>(
    conversations: readonly Row[],
    q: string,
    { wanted, maxText }: SearchBounds,
  ): Promise<{ found: Row[]; read: number; last: Row | null }> => {
    const folded = q.toLowerCase();
    const found: Row[] = [];
    let read = 0;
    let at = 0;
    for (let before = newest; at < conversations.length; ) {
      const numbers = conversations.slice(at).map(({ number }) => number);
      const rows = await queries.all<TextRow>(readTexts, [numbers, before.time, before.number]);
      const last = rows.at(-1);
      let bytes = 0;
      for (const { place, text } of rows) {
        const conversation = conversations[at + place - 1];
        bytes += Buffer.byteLength(text);
        if (conversation === undefined || found.at(-1) === conversation) continue;
        if (text.toLowerCase().includes(folded)) found.push(conversation);
      }
      read += bytes;
      const isCut = last !== undefined && bytes > bytesPerRead;
      // A conversation that is cut off continues, unless it matches already.
      const lastPosition = isCut ? at + last.place - 1 : conversations.length - 1;
      const isSettled = !isCut || found.at(-1) === conversations[lastPosition];
      before = isSettled ? newest : { time: last?.time ?? 0, number: last?.number ?? 0 };
      const searched = isSettled ? lastPosition : lastPosition - 1;
      const isAnySearched = searched >= at;
      at = searched + 1;
      if (found.length < wanted && (read < maxText || !isAnySearched)) continue;
      const end = found.length < wanted ? conversations[searched] : found[wanted - 1];
      const isAtEnd = end === conversations.at(-1);
      return { found: found.slice(0, wanted), read, last: isAtEnd ? null : (end ?? null) };
    }
    return { found, read, last: null };
  };
}
