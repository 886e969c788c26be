/** Conversations as people follow them: messages by their position, and how far they were seen and read. */
import type { HandoffStore } from "../../../contracts/store/handoffs.ts";
import { messagePageBytes } from "../rows/bounds.ts";
import { type HandoffRow, handoffFields, type LiveRow, toHandoff, toLiveMessage } from "../rows/handoff.ts";
import { keyColumns } from "./handoffs.ts";
import { all, columns, get, run, type Script, type ScriptRunner } from "./script.ts";

interface Position {
  seq: number;
  createdAt: number;
  bytes: number;
}

const positions = (direction: "ASC" | "DESC") => `SELECT seq, created_at AS "createdAt", octet_length(text) AS bytes
  FROM messages WHERE conversation_number = $1
  ORDER BY created_at ${direction}, number ${direction} LIMIT $2`;

const messageFields = [
  ...(["id", "role", "channel", "complete", "inputTokens", "outputTokens", "model", "provider"] as const),
  ...(["tokensEstimated", "createdAt", "finishReason", "companionVersion", "text", "seq"] as const),
] satisfies (keyof LiveRow)[];

export const liveQueries = {
  // Conversations of a deleted companion just wait for their own deletion.
  found: `SELECT v.id AS "conversationId", v.account_id AS "ofAccount", v.message_count AS "newestSeq",
      ${columns<HandoffRow>("h", handoffFields)}
    FROM conversations v LEFT JOIN handoffs h ON h.conversation_number = v.number
    WHERE v.companion_id = $1 AND v.session_id = $2 AND v.visitor_id = $3
      AND EXISTS (SELECT 1 FROM companions c WHERE c.id = v.companion_id)`,
  conversation: `SELECT number, message_count AS "messageCount" FROM conversations WHERE id = $1`,
  oldest: positions("ASC"),
  newest: positions("DESC"),
  messages: `SELECT ${columns<LiveRow>("m", messageFields)}, coalesce(a.client_id, m.client_id) AS "clientId", a.author
    FROM messages m LEFT JOIN message_authors a ON a.conversation_number = m.conversation_number AND a.seq = m.seq
    WHERE m.conversation_number = $1 AND m.created_at >= $2 AND m.created_at <= $3 AND m.seq > $4 AND m.seq <= $5
    ORDER BY m.seq`,
  seen: `SELECT v.number, v.message_count AS "messageCount", h.seen_seq AS "seenSeq"
    FROM conversations v JOIN handoffs h ON h.conversation_number = v.number
    WHERE v.companion_id = $1 AND v.session_id = $2 AND v.visitor_id = $3`,
  read: `SELECT v.number, v.message_count AS "messageCount", r.seq FROM conversations v
    LEFT JOIN read_marks r ON r.conversation_number = v.number AND r.person_id = $3
    WHERE v.id = $1 AND v.account_id = $2`,
};

const markSeen = "UPDATE handoffs SET seen_seq = $2 WHERE conversation_number = $1 AND seen_seq < $2";
// Selected from the conversation, so that nothing is left of one that is just being deleted.
const markRead = `INSERT INTO read_marks (conversation_number, person_id, seq)
  SELECT v.number, $2, $3 FROM conversations v WHERE v.number = $1 FOR KEY SHARE
  ON CONFLICT (conversation_number, person_id) DO UPDATE SET seq = excluded.seq WHERE read_marks.seq < excluded.seq`;

/** Messages that others commit meanwhile. */
const margin = 8;

/** Up to `limit` beyond `afterSeq`, in order. */
function following(rows: readonly Position[], afterSeq: number, limit: number): Position[] {
  const beyond = rows.filter(({ seq }) => seq > afterSeq);
  return beyond.sort((one, other) => one.seq - other.seq).slice(0, limit);
}

/**
 * No index has the order of commits. That of times is the same but for spoken words, whose transcript arrives after
 * what was written meanwhile: only where they are in between, all of the conversation is read.
 */
function* findPositions(number: number, newest: number, afterSeq: number, limit: number): Script<Position[]> {
  const fromEnd = newest - afterSeq;
  const fromStart = afterSeq + limit;
  const [text, count] = fromEnd <= fromStart ? [liveQueries.newest, fromEnd] : [liveQueries.oldest, fromStart];
  const near = following(yield* all(text, number, count + margin), afterSeq, limit);
  const isWhole = near.length >= Math.min(limit, fromEnd) && near.at(-1)?.seq === afterSeq + near.length;
  return isWhole ? near : following(yield* all(liveQueries.oldest, number, newest + margin), afterSeq, limit);
}

/** How many of them go together; the first always does, however long it is. */
function withinBytes(found: readonly Position[]): readonly Position[] {
  let left = messagePageBytes;
  const full = found.findIndex(({ bytes }) => {
    left -= bytes;
    return left <= 0;
  });
  return full === -1 ? found : found.slice(0, full + 1);
}

export type FollowingStore = Pick<HandoffStore, "findLive" | "listLive" | "markSeen" | "markRead">;

export function createFollowing(scripts: ScriptRunner): FollowingStore {
  return {
    async findLive(key) {
      type Row = HandoffRow & { conversationId: string; ofAccount: string; newestSeq: number };
      const row = await scripts.read(() => get<Row>(liveQueries.found, ...keyColumns(key)));
      if (row === null) return null;
      const { conversationId, ofAccount: accountId, newestSeq } = row;
      // Without a record all of its columns are null.
      const handoff = row.change === null ? null : toHandoff(conversationId, row);
      return { accountId, conversationId, newestSeq, handoff };
    },

    listLive: (conversationId, afterSeq, limit) =>
      scripts.read(function* () {
        const conversation = yield* get<{ number: number; messageCount: number }>(
          liveQueries.conversation,
          conversationId,
        );
        const newestSeq = conversation?.messageCount ?? 0;
        if (conversation === null || newestSeq <= afterSeq) return { messages: [], newestSeq };
        const { number } = conversation;
        const taken = withinBytes(yield* findPositions(number, newestSeq, afterSeq, limit));
        const times = taken.map(({ createdAt }) => createdAt);
        const range = [Math.min(...times), Math.max(...times), afterSeq, taken.at(-1)?.seq ?? 0];
        const rows = yield* all<LiveRow>(liveQueries.messages, number, ...range);
        return { messages: rows.map(toLiveMessage), newestSeq: Math.max(newestSeq, rows.at(-1)?.seq ?? 0) };
      }),

    async markSeen(key, seq) {
      type Row = { number: number; messageCount: number; seenSeq: number };
      // A client reports it again and again: most of the time there is nothing to write.
      const row = await scripts.read(() => get<Row>(liveQueries.seen, ...keyColumns(key)));
      if (row === null) return false;
      const until = Math.min(seq, row.messageCount);
      if (until <= row.seenSeq) return false;
      return (await scripts.append(() => run(markSeen, row.number, until))) > 0;
    },

    async markRead(accountId, conversationId, personId, seq) {
      type Row = { number: number; messageCount: number; seq: number | null };
      const row = await scripts.read(() => get<Row>(liveQueries.read, conversationId, accountId, personId));
      if (row === null) return false;
      const until = Math.min(seq, row.messageCount);
      if (until <= (row.seq ?? 0)) return false;
      return (await scripts.append(() => run(markRead, row.number, personId, until))) > 0;
    },
  };
}
