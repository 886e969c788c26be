/** What turns found in knowledge, and unanswered questions, in SQLite. */
import type { IndexedPassage } from "../../contracts/store/editions.ts";
import type { PageRequest } from "../../contracts/store/page.ts";
import type { ShownPassage, UnansweredStore } from "../../contracts/store/unanswered.ts";
import type { UnansweredQuestion } from "../../domain/knowledge.ts";
import { maxAskings } from "../../domain/knowledge.ts";
import { pause } from "../../lib/pause.ts";
import { decodeSeen, encodeSeen } from "../store-shared/rows/knowledge.ts";
import type { KnowledgeSources } from "../store-shared/scripts/knowledge-sources.ts";
import { part } from "../store-shared/scripts/script.ts";
import type { SqliteEngine } from "./engine.ts";
import type { PassageReader } from "./knowledge-passages.ts";
import type { StoreParts } from "./parts.ts";

/** Questions whose words are read before others get their turn. */
const questionsPerSlice = 200;

interface GroupRow {
  id: string;
  count: number;
  firstAskedAt: number;
  lastAskedAt: number;
}

type Place = [companionId: string, sessionId: string, visitorId: string];

// An asking of a conversation that is gone is gone too, though its row is removed a little later.
const groups = (condition: string) => `SELECT group_id AS id, count(*) AS count, min(created_at) AS firstAskedAt,
    max(created_at) AS lastAskedAt
  FROM knowledge_turns AS t INDEXED BY knowledge_turns_unanswered
  WHERE companion_id = ? AND group_id IS NOT NULL ${condition}
    AND EXISTS (SELECT 1 FROM conversations WHERE number = t.conversation_number)
  GROUP BY group_id`;

export const unansweredQueries = {
  /** Those of the account that have any. */
  companions: `SELECT id FROM companions AS c WHERE account_id = ? AND EXISTS
    (SELECT 1 FROM knowledge_turns INDEXED BY knowledge_turns_oldest WHERE companion_id = c.id AND group_id IS NOT NULL)`,
  list: `${groups("")} HAVING (max(created_at), group_id) < (?, ?) ORDER BY lastAskedAt DESC, group_id DESC LIMIT ?`,
  listOldestFirst: `${groups("")} HAVING (max(created_at), group_id) > (?, ?) ORDER BY lastAskedAt, group_id LIMIT ?`,
  find: groups("AND group_id = ?"),
  question: `SELECT m.text FROM knowledge_turns AS t INDEXED BY knowledge_turns_unanswered
    CROSS JOIN messages AS m INDEXED BY messages_conversation
      ON m.conversation_number = t.conversation_number AND m.created_at = t.created_at AND m.id = t.message_id
    WHERE t.companion_id = ? AND t.group_id IS NOT NULL AND t.group_id = ? ORDER BY t.created_at DESC LIMIT 1`,
};

export function createUnansweredStore(
  engine: SqliteEngine,
  { changes, events }: StoreParts,
  { passages, sources }: { passages: PassageReader; sources: KnowledgeSources },
): UnansweredStore {
  const selectConversation = engine.query<{ number: number }, Place>(
    "SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?",
  );
  // The newest first: it was stored just now.
  const selectMessage = engine.query<{ createdAt: number }, [number, string]>(
    `SELECT created_at AS createdAt FROM messages INDEXED BY messages_conversation
     WHERE conversation_number = ? AND id = ? ORDER BY created_at DESC LIMIT 1`,
  );
  // A message that runs again is one asking.
  const insert = engine.query<null, [number, string, string, string | null, string | null, number]>(
    `INSERT INTO knowledge_turns (conversation_number, message_id, companion_id, group_id, seen, created_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS
       (SELECT 1 FROM knowledge_turns INDEXED BY knowledge_turns_conversation
        WHERE conversation_number = ?1 AND message_id = ?2 AND group_id IS ?4)`,
  );
  const deleteOldest = engine.query<null, [string, string, number]>(
    `DELETE FROM knowledge_turns WHERE companion_id = ? AND group_id IS NOT NULL AND number <=
       (SELECT number FROM knowledge_turns INDEXED BY knowledge_turns_oldest
        WHERE companion_id = ? AND group_id IS NOT NULL ORDER BY number DESC LIMIT 1 OFFSET ?)`,
  );
  const selectSeen = engine.query<{ companionId: string; seen: string }, [string, string]>(
    `SELECT companion_id AS companionId, seen FROM knowledge_turns
     WHERE conversation_number = (SELECT number FROM conversations WHERE id = ?) AND message_id = ? AND seen IS NOT NULL
     LIMIT 1`,
  );
  const selectOwn = engine.query<{ one: number }, [string, string]>(
    "SELECT 1 AS one FROM companions WHERE id = ? AND account_id = ?",
  );
  const selectCompanions = engine.query<{ id: string }, [string]>(unansweredQueries.companions);
  const selectGroups = {
    desc: engine.query<GroupRow, [string, number, string, number]>(unansweredQueries.list),
    asc: engine.query<GroupRow, [string, number, string, number]>(unansweredQueries.listOldestFirst),
  };
  const selectGroup = engine.query<GroupRow, [string, string]>(unansweredQueries.find);
  const selectQuestion = engine.query<{ text: string }, [string, string]>(unansweredQueries.question);
  const deleteGroup = engine.query<null, [string, string]>(
    "DELETE FROM knowledge_turns WHERE companion_id = ? AND group_id IS NOT NULL AND group_id = ?",
  );

  const isOwn = (accountId: string, companionId: string) => selectOwn.get(companionId, accountId) !== null;

  /** Null if all its words are gone, as in the middle of an erasure. */
  function read(companionId: string, group: GroupRow): UnansweredQuestion | null {
    const asked = selectQuestion.get(companionId, group.id);
    return asked === null ? null : { ...group, companionId, question: asked.text };
  }

  function find(accountId: string, companionId: string, id: string): UnansweredQuestion | null {
    const group = isOwn(accountId, companionId) ? selectGroup.get(companionId, id) : null;
    return group === null ? null : read(companionId, group);
  }

  /** `groups`: one more than the page has, where there are more. Each reads its question within slices. */
  async function toQuestions(groups: readonly (GroupRow & { companionId: string })[], limit: number) {
    const page = groups.slice(0, limit);
    const items: UnansweredQuestion[] = [];
    for (let at = 0; at < page.length; at += questionsPerSlice) {
      if (at > 0) await pause();
      const slice = page.slice(at, at + questionsPerSlice);
      const questions = await engine.read(() => slice.map((group) => read(group.companionId, group)));
      items.push(...questions.filter((question) => question !== null));
    }
    const last = groups.length > limit ? page.at(-1) : undefined;
    return { items, nextAfterId: last?.id ?? null, nextUpdatedAt: last?.lastAskedAt ?? null };
  }

  const toPlace = ({ afterId, afterUpdatedAt, order }: PageRequest): [number, string] => [
    afterUpdatedAt ?? (order === "asc" ? -1 : Number.MAX_SAFE_INTEGER),
    afterId ?? "",
  ];

  function toShown(seen: string, found: ReadonlyMap<string, IndexedPassage>): ShownPassage[] {
    return decodeSeen(seen).map((passage) => {
      const live = found.get(passages.keyOf(passage));
      if (live === undefined) return { ...passage, source: null };
      const { sourceId: id, title, url, page, text } = live;
      return { ...passage, source: { id, title, url, page, text } };
    });
  }

  return {
    note: ({ key, unanswered, seen }) =>
      engine.append(() => {
        const { companionId, sessionId, visitorId } = key;
        const number = selectConversation.get(companionId, sessionId, visitorId ?? "")?.number;
        if (number === undefined) return;
        const asked = unanswered === null ? null : selectMessage.get(number, unanswered.messageId);
        if (unanswered !== null && asked !== null) {
          insert.run(number, unanswered.messageId, companionId, unanswered.groupId, null, asked.createdAt);
          deleteOldest.run(companionId, companionId, maxAskings);
          const { event = null } = unanswered;
          if (event !== null) events.tellOf(key, () => [event]);
        }
        const replied = seen === null ? null : selectMessage.get(number, seen.messageId);
        if (seen === null || replied === null) return;
        insert.run(number, seen.messageId, companionId, null, encodeSeen(seen.passages), replied.createdAt);
      }),

    async listSeen(conversationId, messageIds) {
      const rows = await engine.read(() =>
        messageIds.map((messageId) => ({ messageId, row: selectSeen.get(conversationId, messageId) })),
      );
      const shown = new Map<string, ShownPassage[]>();
      for (const { messageId, row } of rows) {
        if (row === null) continue;
        const found = await passages.readAll(row.companionId, decodeSeen(row.seen));
        shown.set(messageId, toShown(row.seen, found));
      }
      return shown;
    },

    async list(accountId, companionId, page) {
      const { limit, order = "desc" } = page;
      const found = await engine.read(() =>
        isOwn(accountId, companionId) ? selectGroups[order].all(companionId, ...toPlace(page), limit + 1) : null,
      );
      return (
        found &&
        (await toQuestions(
          found.map((group) => ({ ...group, companionId })),
          limit,
        ))
      );
    },

    // A companion at a time: all of them together would hold the event loop.
    async listOfAccount(accountId, page) {
      const { limit, order = "desc" } = page;
      const sign = order === "asc" ? 1 : -1;
      let groups: (GroupRow & { companionId: string })[] = [];
      for (const { id: companionId } of await engine.read(() => selectCompanions.all(accountId))) {
        await pause();
        const found = await engine.read(() => selectGroups[order].all(companionId, ...toPlace(page), limit + 1));
        groups.push(...found.map((group) => ({ ...group, companionId })));
        groups = groups
          .sort((a, b) => sign * (a.lastAskedAt - b.lastAskedAt || (a.id < b.id ? -1 : 1)))
          .slice(0, limit + 1);
      }
      return await toQuestions(groups, limit);
    },

    find: (accountId, companionId, id) => engine.read(() => find(accountId, companionId, id)),

    dismiss: (accountId, companionId, id, context) =>
      engine.append(() => {
        if (find(accountId, companionId, id) === null) return false;
        deleteGroup.run(companionId, id);
        changes.record(context, { accountId, action: "unanswered.dismiss", targetId: id, details: { companionId } });
        return true;
      }),

    answer: (accountId, companionId, id, source, context) =>
      sources.answer(accountId, companionId, source, context, () =>
        part(() => {
          if (find(accountId, companionId, id) === null) return false;
          deleteGroup.run(companionId, id);
          return true;
        }),
      ),
  };
}
