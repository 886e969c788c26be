/** What is kept beside conversations that people step into: their history, notes, and what was not read. */
import type { ConversationNote, HandoffStore } from "../../../contracts/store/handoffs.ts";
import { toPage } from "../../../contracts/store/page.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { type HandoffEvent, maxNotes } from "../../../domain/handoff.ts";
import { pause } from "../../../lib/pause.ts";
import { type HandoffRow, handoffFields, type KeyRow, toHandoff, toKey } from "../rows/handoff.ts";
import { changes } from "./changes.ts";
import { createRevisions, type RevisionParts } from "./handoffs.ts";
import { createFollowing } from "./live-messages.ts";
import { createPresence } from "./presence.ts";
import { all, columns, get, getEach, insert, run, type Script, type ScriptRunner } from "./script.ts";
import { createWatched } from "./watched-handoffs.ts";

const conversationOf = "SELECT number FROM conversations WHERE id = $1 AND account_id = $2";
const events = (after: string, direction: string) => `SELECT e.id, e.type, e.at_ms AS "atMs", e.by,
    e.sealed_reason AS "sealedReason"
  FROM handoff_events e WHERE e.conversation_number = $1 ${after} ORDER BY e.number ${direction} LIMIT $2`;
const afterEvent = "(SELECT number FROM handoff_events WHERE id = $3 AND conversation_number = $1)";
/** Far more than anybody counts. */
const maxUnread = 1_000;

export const peopleQueries = {
  state: `SELECT v.id, v.message_count AS "newestSeq", h.change FROM conversations v
    LEFT JOIN handoffs h ON h.conversation_number = v.number WHERE v.id = ANY ($1::text[])`,
  since: `SELECT v.id AS "conversationId", v.session_id AS "sessionId", v.visitor_id AS "visitorId",
      ${columns<HandoffRow>("h", handoffFields)}
    FROM handoffs h JOIN conversations v ON v.number = h.conversation_number
    WHERE h.account_id = $1 AND h.change > $2 ORDER BY h.change LIMIT $3`,
  events: {
    desc: [events("", "DESC"), events(`AND e.number < ${afterEvent}`, "DESC")],
    asc: [events("", "ASC"), events(`AND e.number > ${afterEvent}`, "ASC")],
  },
  notes: `SELECT n.id, n.author, n.sealed_text AS "sealedText", n.created_at AS "createdAt" FROM conversation_notes n
    WHERE n.conversation_number = (${conversationOf}) ORDER BY n.created_at, n.id`,
  marks: `SELECT v.id, v.number, v.message_count AS "newestSeq", h.status, r.seq FROM conversations v
    LEFT JOIN handoffs h ON h.conversation_number = v.number
    LEFT JOIN read_marks r ON r.conversation_number = v.number AND r.person_id = $2
    WHERE v.id = ANY ($1::text[]) AND v.account_id = $3`,
  unread: `SELECT count(*) AS count FROM
    (SELECT role, seq FROM messages WHERE conversation_number = $1 ORDER BY created_at DESC, number DESC LIMIT $2) AS newest
    WHERE role = 'user' AND seq > $3`,
  used: "SELECT id FROM companions WHERE account_id = $1 AND (had_people OR handoff IS NOT NULL) LIMIT 1",
};

const countNotes = "SELECT count(*) AS count FROM conversation_notes WHERE conversation_number = $1";
const deleteNote = "DELETE FROM conversation_notes WHERE id = $1 AND conversation_number = $2";

/** Between turns of the event loop. */
const perRead = 500;

/** Visitors' messages beyond what the person has read; only of conversations with a status. */
export function* countUnread(
  accountId: string,
  conversationIds: readonly string[],
  personId: string,
): Script<Map<string, number>> {
  type Mark = { id: string; number: number; newestSeq: number; status: string | null; seq: number | null };
  const marks = (yield* all<Mark>(peopleQueries.marks, conversationIds, personId, accountId)).filter(
    ({ status }) => status !== null,
  );
  const behind = marks.filter(({ newestSeq, seq }) => newestSeq > (seq ?? 0));
  const counts = yield* getEach<{ count: number }>(
    peopleQueries.unread,
    behind.map(({ number, newestSeq, seq }) => [number, Math.min(newestSeq - (seq ?? 0), maxUnread), seq ?? 0]),
  );
  const unreadOf = new Map(marks.map(({ id }) => [id, 0]));
  for (const [at, { id }] of behind.entries()) unreadOf.set(id, counts[at]?.count ?? 0);
  return unreadOf;
}

export function createHandoffStore(scripts: ScriptRunner, parts: RevisionParts): HandoffStore {
  function* findNumber(accountId: string, conversationId: string): Script<number | null> {
    return (
      (yield* get<{ number: number }>(`${conversationOf} FOR KEY SHARE`, conversationId, accountId))?.number ?? null
    );
  }

  function* recordNote(accountId: string, targetId: string, isDeleted: boolean, context: WriteContext): Script<void> {
    const details = isDeleted ? { deleted: true } : {};
    yield* changes.record(context, { accountId, action: "conversation.note", targetId, details });
  }

  return {
    ...createRevisions(scripts, parts),
    ...createFollowing(scripts),
    ...createWatched(scripts),
    ...createPresence(scripts),

    async listChanged(known) {
      type State = { id: string; newestSeq: number; change: number | null };
      const changed: { conversationId: string; isGone: boolean }[] = [];
      for (let at = 0; at < known.length; at += perRead) {
        const some = known.slice(at, at + perRead);
        const ids = some.map(({ conversationId }) => conversationId);
        const states = await scripts.read(() => all<State>(peopleQueries.state, ids));
        const stateOf = new Map(states.map((state) => [state.id, state]));
        for (const { conversationId, change, newestSeq } of some) {
          const state = stateOf.get(conversationId);
          const isSame = state?.newestSeq === newestSeq && (state.change ?? 0) === change;
          if (!isSame) changed.push({ conversationId, isGone: state === undefined });
        }
        if (at + perRead < known.length) await pause();
      }
      return changed;
    },

    async listSince(accountId, change, limit, companionIds) {
      type Row = HandoffRow & KeyRow & { conversationId: string };
      const found: { conversationId: string; key: ReturnType<typeof toKey>; handoff: ReturnType<typeof toHandoff> }[] =
        [];
      for (let after = change; ; await pause()) {
        const most = companionIds === null ? Math.min(perRead, limit - found.length) : perRead;
        const rows = await scripts.read(() => all<Row>(peopleQueries.since, accountId, after, most));
        for (const row of rows) {
          if (companionIds !== null && !companionIds.includes(row.companionId)) continue;
          const { conversationId } = row;
          found.push({ conversationId, key: toKey(row), handoff: toHandoff(conversationId, row) });
          if (found.length === limit) return found;
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < most) return found;
        after = last.change;
      }
    },

    listEvents: (accountId, conversationId, { limit, afterId, order = "desc" }) =>
      scripts.read(function* () {
        const conversation = yield* get<{ number: number }>(conversationOf, conversationId, accountId);
        if (conversation === null) return null;
        const [first, following] = peopleQueries.events[order];
        const range = [conversation.number, limit + 1];
        type Row = Omit<HandoffEvent, "by"> & { id: string; by: string };
        const rows = yield* afterId === null
          ? all<Row>(first ?? "", ...range)
          : all<Row>(following ?? "", ...range, afterId);
        return toPage(
          rows.map((row) => ({ ...row, by: JSON.parse(row.by) as HandoffEvent["by"] })),
          limit,
        );
      }),

    addNote: (accountId, conversationId, { author, ...note }, context) =>
      scripts.change(accountId, function* () {
        const conversationNumber = yield* findNumber(accountId, conversationId);
        if (conversationNumber === null) return false;
        const count = (yield* get<{ count: number }>(countNotes, conversationNumber))?.count ?? 0;
        if (count >= maxNotes) throw new AppError("limit_reached", `A conversation has at most ${maxNotes} notes.`);
        yield* insert("conversation_notes", { ...note, conversationNumber, author: JSON.stringify(author) });
        yield* recordNote(accountId, conversationId, false, context);
        return true;
      }),

    deleteNote: (accountId, conversationId, id, context) =>
      scripts.change(accountId, function* () {
        const number = yield* findNumber(accountId, conversationId);
        if (number === null || (yield* run(deleteNote, id, number)) === 0) return false;
        yield* recordNote(accountId, conversationId, true, context);
        return true;
      }),

    async listNotes(accountId, conversationId) {
      type Row = Omit<ConversationNote, "author"> & { author: string };
      const rows = await scripts.read(() => all<Row>(peopleQueries.notes, conversationId, accountId));
      return rows.map((row) => ({ ...row, author: JSON.parse(row.author) }));
    },

    countUnread: (...asked) => scripts.read(() => countUnread(...asked)),

    areUsed: async (accountId) => (await scripts.read(() => get(peopleQueries.used, accountId))) !== null,
  };
}
