/** What turns found in knowledge, and unanswered questions, in PostgreSQL. */
import type { PageRequest } from "../../contracts/store/page.ts";
import { maxAskings } from "../../domain/knowledge.ts";
import { encodeSeen } from "../store-shared/rows/knowledge.ts";
import { type OwnUnanswered, type QuestionRow, startOf, toQuestionPage } from "../store-shared/scripts/unanswered.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Parameter } from "./queries.ts";

/** The newest message of that id; of one that was erased, the conversation is gone. One that runs again is noted once. */
const insertTurns = `WITH kept AS MATERIALIZED (
    SELECT number FROM conversations WHERE companion_id = $1 AND session_id = $2 AND visitor_id = $3 FOR KEY SHARE
  )
  INSERT INTO knowledge_turns (conversation_number, message_id, companion_id, group_id, seen, created_at)
  SELECT kept.number, noted.message_id, $1, noted.group_id, noted.seen, m.created_at
  FROM kept CROSS JOIN unnest($4::text[], $5::text[], $6::text[]) AS noted (message_id, group_id, seen)
    CROSS JOIN LATERAL (SELECT m.created_at FROM messages m
      WHERE m.conversation_number = kept.number AND m.id = noted.message_id
      ORDER BY m.created_at DESC, m.number DESC LIMIT 1) AS m
  WHERE NOT EXISTS (SELECT FROM knowledge_turns t
    WHERE t.conversation_number = kept.number AND t.message_id = noted.message_id
      AND t.group_id IS NOT DISTINCT FROM noted.group_id)`;
const deleteOldest = `DELETE FROM knowledge_turns WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM knowledge_turns WHERE companion_id = $1 AND group_id IS NOT NULL
    ORDER BY companion_id DESC, number DESC OFFSET ${maxAskings} LIMIT 1000))`;

/** Askings whose conversation is there: of others, the removal is under way. */
const isKept = "EXISTS (SELECT FROM conversations c WHERE c.number = t.conversation_number)";
const ofOne = "t.companion_id = $1";
const ofAll = "t.companion_id IN (SELECT c.id FROM companions c WHERE c.account_id = $1)";
const groups = (companions: string, condition = "") => `SELECT t.group_id AS id, t.companion_id AS "companionId",
    count(*)::float8 AS count, min(t.created_at)::float8 AS "firstAskedAt", max(t.created_at)::float8 AS "lastAskedAt"
  FROM knowledge_turns t WHERE ${companions} AND t.group_id IS NOT NULL ${condition} AND ${isKept}
  GROUP BY t.companion_id, t.group_id`;
const question = `(SELECT m.text FROM knowledge_turns t
    JOIN messages m ON m.conversation_number = t.conversation_number AND m.id = t.message_id
  WHERE t.companion_id = g."companionId" AND t.group_id = g.id AND t.group_id IS NOT NULL AND ${isKept}
  ORDER BY t.created_at DESC, t.number DESC LIMIT 1)`;

const page = (companions: string, after: string, order: string) => `SELECT g.*, ${question} AS question
  FROM (${groups(companions)}
    HAVING (max(t.created_at), t.group_id) ${after} ($2, $3)
    ORDER BY max(t.created_at) ${order}, t.group_id ${order} LIMIT $4) AS g
  ORDER BY g."lastAskedAt" ${order}, g.id ${order}`;

export const unansweredQueries = {
  desc: page(ofOne, "<", "DESC"),
  asc: page(ofOne, ">", "ASC"),
  ofAccount: { desc: page(ofAll, "<", "DESC"), asc: page(ofAll, ">", "ASC") },
  one: `SELECT g.*, ${question} AS question FROM (${groups(ofOne, "AND t.group_id = $2")}) AS g`,
};

export function createUnansweredParts(engine: PostgresEngine, { events }: StoreParts): OwnUnanswered {
  async function readPage(query: string, owner: string, page: PageRequest) {
    const rows = await engine.heavy.all<QuestionRow>(query, [owner, ...startOf(page), page.limit + 1]);
    return toQuestionPage(rows, page.limit);
  }

  return {
    selectOne: unansweredQueries.one,

    async note({ key, unanswered, seen }) {
      const { companionId, sessionId, visitorId } = key;
      const rows = [
        ...(unanswered === null ? [] : [{ messageId: unanswered.messageId, groupId: unanswered.groupId, seen: null }]),
        ...(seen === null ? [] : [{ messageId: seen.messageId, groupId: null, seen: encodeSeen(seen.passages) }]),
      ];
      if (rows.length === 0) return;
      const noted: Parameter[] = [
        ...[companionId, sessionId, visitorId ?? ""],
        ...[rows.map(({ messageId }) => messageId), rows.map(({ groupId }) => groupId), rows.map((row) => row.seen)],
      ];
      const event = unanswered?.event ?? null;
      if (event === null) await engine.quickPool.once.run(insertTurns, noted);
      else {
        await engine.write(async (transaction) => {
          if ((await transaction.run(insertTurns, noted)) > 0) await events.emitOf(transaction, key, () => [event]);
        });
      }
      if (unanswered !== null) await engine.quickPool.once.run(deleteOldest, [companionId]);
    },

    listOfCompanion: (companionId, page) => readPage(unansweredQueries[page.order ?? "desc"], companionId, page),

    listOfAccount: (accountId, page) => readPage(unansweredQueries.ofAccount[page.order ?? "desc"], accountId, page),
  };
}
