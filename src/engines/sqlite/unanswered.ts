/** What turns found in knowledge, and unanswered questions, in SQLite. */
import { maxAskings, type UnansweredQuestion } from "../../domain/knowledge.ts";
import { pause } from "../../lib/pause.ts";
import { encodeSeen } from "../store-shared/rows/knowledge.ts";
import { type OwnUnanswered, type QuestionRow, startOf, toQuestionPage } from "../store-shared/scripts/unanswered.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";

/** Questions whose words are read before others get their turn. */
const questionsPerSlice = 200;

type GroupRow = Omit<UnansweredQuestion, "question">;

type KeyParameters = [companionId: string, sessionId: string, visitorId: string];

// An asking of a conversation that is gone is gone too, though its row is removed a little later.
const groups = (condition: string) => `SELECT t.group_id AS id, t.companion_id AS companionId, count(*) AS count,
    min(t.created_at) AS firstAskedAt, max(t.created_at) AS lastAskedAt
  FROM knowledge_turns AS t INDEXED BY knowledge_turns_unanswered
  WHERE companion_id = ?1 AND group_id IS NOT NULL ${condition}
    AND EXISTS (SELECT 1 FROM conversations WHERE number = t.conversation_number)
  GROUP BY group_id`;
const question = `SELECT m.text FROM knowledge_turns AS t INDEXED BY knowledge_turns_unanswered
  CROSS JOIN messages AS m INDEXED BY messages_conversation
    ON m.conversation_number = t.conversation_number AND m.created_at = t.created_at AND m.id = t.message_id
  WHERE t.companion_id = ?1 AND t.group_id IS NOT NULL AND t.group_id = ?2 ORDER BY t.created_at DESC LIMIT 1`;

export const unansweredQueries = {
  /** Those of the account that have any. */
  companions: `SELECT id FROM companions AS c WHERE account_id = ? AND EXISTS
    (SELECT 1 FROM knowledge_turns INDEXED BY knowledge_turns_oldest WHERE companion_id = c.id AND group_id IS NOT NULL)`,
  desc: `${groups("")} HAVING (max(created_at), group_id) < (?2, ?3) ORDER BY lastAskedAt DESC, group_id DESC LIMIT ?4`,
  asc: `${groups("")} HAVING (max(created_at), group_id) > (?2, ?3) ORDER BY lastAskedAt, group_id LIMIT ?4`,
  one: `SELECT g.*, (${question}) AS question FROM (${groups("AND group_id = ?2")}) AS g`,
  question,
};

export function createUnansweredParts(engine: SqliteEngine, { events }: StoreParts): OwnUnanswered {
  const selectConversation = engine.query<{ number: number }, KeyParameters>(
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
  const selectCompanions = engine.query<{ id: string }, [string]>(unansweredQueries.companions);
  const selectGroups = {
    desc: engine.query<GroupRow, [string, number, string, number]>(unansweredQueries.desc),
    asc: engine.query<GroupRow, [string, number, string, number]>(unansweredQueries.asc),
  };
  const selectQuestion = engine.query<{ text: string }, [string, string]>(unansweredQueries.question);

  /** `groups`: as `toQuestionPage` takes them. Each reads its question within slices. */
  async function toPage(groups: readonly GroupRow[], limit: number) {
    const rows: QuestionRow[] = [];
    for (let at = 0; at < groups.length; at += questionsPerSlice) {
      if (at > 0) await pause();
      const slice = groups.slice(at, at + questionsPerSlice);
      const read = (group: GroupRow) => selectQuestion.get(group.companionId, group.id)?.text ?? null;
      rows.push(...(await engine.read(() => slice.map((group) => ({ ...group, question: read(group) })))));
    }
    return toQuestionPage(rows, limit);
  }

  return {
    selectOne: unansweredQueries.one,

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
          if (event !== null) events.emitOf(key, () => [event]);
        }
        const replied = seen === null ? null : selectMessage.get(number, seen.messageId);
        if (seen === null || replied === null) return;
        insert.run(number, seen.messageId, companionId, null, encodeSeen(seen.passages), replied.createdAt);
      }),

    async listOfCompanion(companionId, page) {
      const { limit, order = "desc" } = page;
      const select = selectGroups[order];
      return await toPage(await engine.read(() => select.all(companionId, ...startOf(page), limit + 1)), limit);
    },

    // A companion at a time: all of them together would hold the event loop.
    async listOfAccount(accountId, page) {
      const { limit, order = "desc" } = page;
      const sign = order === "asc" ? 1 : -1;
      let groups: GroupRow[] = [];
      for (const { id: companionId } of await engine.read(() => selectCompanions.all(accountId))) {
        await pause();
        groups.push(...(await engine.read(() => selectGroups[order].all(companionId, ...startOf(page), limit + 1))));
        groups = groups
          .sort((a, b) => sign * (a.lastAskedAt - b.lastAskedAt || (a.id < b.id ? -1 : 1)))
          .slice(0, limit + 1);
      }
      return await toPage(groups, limit);
    },
  };
}
