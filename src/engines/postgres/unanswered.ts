/** What turns found in knowledge, and unanswered questions, in PostgreSQL. */
import type { IndexedPassage } from "../../contracts/store/editions.ts";
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import type { PageRequest } from "../../contracts/store/page.ts";
import type { SeenPassage, ShownPassage, UnansweredStore } from "../../contracts/store/unanswered.ts";
import { maxAskings, type UnansweredQuestion } from "../../domain/knowledge.ts";
import { decodeSeen, encodeSeen } from "../store-shared/rows/knowledge.ts";
import { selectOwned } from "../store-shared/scripts/companions.ts";
import type { KnowledgeSources } from "../store-shared/scripts/knowledge-sources.ts";
import { part } from "../store-shared/scripts/script.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Parameter, Queries } from "./queries.ts";

/** As many as `readPassages` takes. */
const refsAtOnce = 100;

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
  seen: `SELECT t.message_id AS "messageId", t.seen, t.companion_id AS "companionId" FROM knowledge_turns t
    WHERE t.conversation_number = (SELECT c.number FROM conversations c WHERE c.id = $1)
      AND t.message_id = ANY($2::text[]) AND t.seen IS NOT NULL`,
};
const deleteAskings = "DELETE FROM knowledge_turns WHERE companion_id = $1 AND group_id = $2 AND group_id IS NOT NULL";

type GroupRow = Omit<UnansweredQuestion, "question"> & { question: string | null };

export interface UnansweredParts {
  sources: KnowledgeSources;
  readPassages: KnowledgeStore["readPassages"];
}

export function createUnansweredStore(
  engine: PostgresEngine,
  { changes, events }: StoreParts,
  { sources, readPassages }: UnansweredParts,
): UnansweredStore {
  /** Null if all its words are gone, as in the middle of an erasure. */
  const toQuestion = ({ question, ...group }: GroupRow): UnansweredQuestion | null =>
    question === null ? null : { ...group, question };

  async function readPage(query: string, owner: string, { limit, afterId, afterUpdatedAt, order }: PageRequest) {
    const place = [afterUpdatedAt ?? (order === "asc" ? -1 : Number.MAX_SAFE_INTEGER), afterId ?? ""];
    const rows = await engine.heavy.all<GroupRow>(query, [owner, ...place, limit + 1]);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      items: page.flatMap((row) => toQuestion(row) ?? []),
      ...{ nextAfterId: last?.id ?? null, nextUpdatedAt: last?.lastAskedAt ?? null },
    };
  }

  const isOwn = async (queries: Queries, accountId: string, companionId: string) =>
    (await queries.get(selectOwned, [companionId, accountId])) !== null;

  async function find(queries: Queries, accountId: string, companionId: string, id: string) {
    if (!(await isOwn(queries, accountId, companionId))) return null;
    const row = await queries.get<GroupRow>(unansweredQueries.one, [companionId, id]);
    return row === null ? null : toQuestion(row);
  }

  async function findPassages(companionId: string, refs: readonly SeenPassage[]): Promise<Map<string, IndexedPassage>> {
    const found = new Map<string, IndexedPassage>();
    for (let at = 0; at < refs.length; at += refsAtOnce) {
      for (const passage of await readPassages(companionId, refs.slice(at, at + refsAtOnce))) {
        found.set(nameOf(passage), passage);
      }
    }
    return found;
  }

  return {
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
          if ((await transaction.run(insertTurns, noted)) > 0) await events.tellOf(transaction, key, () => [event]);
        });
      }
      if (unanswered !== null) await engine.quickPool.once.run(deleteOldest, [companionId]);
    },

    async listSeen(conversationId, messageIds) {
      if (messageIds.length === 0) return new Map();
      const rows = await engine.quick.all<{ messageId: string; seen: string; companionId: string }>(
        unansweredQueries.seen,
        [conversationId, messageIds],
      );
      const seen = rows.map((row) => ({ ...row, passages: decodeSeen(row.seen) }));
      const passages = await findPassages(
        rows[0]?.companionId ?? "",
        seen.flatMap((row) => row.passages),
      );
      const show = (one: SeenPassage): ShownPassage => ({ ...one, source: toShown(passages.get(nameOf(one))) });
      return new Map(seen.map((row) => [row.messageId, row.passages.map(show)]));
    },

    async list(accountId, companionId, page) {
      if (!(await isOwn(engine.quick, accountId, companionId))) return null;
      return await readPage(unansweredQueries[page.order ?? "desc"], companionId, page);
    },

    listOfAccount: (accountId, page) => readPage(unansweredQueries.ofAccount[page.order ?? "desc"], accountId, page),

    find: (accountId, companionId, id) => find(engine.quick, accountId, companionId, id),

    dismiss: (accountId, companionId, id, context) =>
      engine.change(accountId, async (transaction) => {
        if ((await find(transaction, accountId, companionId, id)) === null) return false;
        await transaction.run(deleteAskings, [companionId, id]);
        const change = { accountId, action: "unanswered.dismiss", targetId: id, details: { companionId } };
        await changes.record(transaction, context, change);
        return true;
      }),

    answer: (accountId, companionId, id, source, context) =>
      sources.answer(accountId, companionId, source, context, () =>
        part(async (transaction: Queries) => {
          if ((await find(transaction, accountId, companionId, id)) === null) return false;
          await transaction.run(deleteAskings, [companionId, id]);
          return true;
        }),
      ),
  };
}

const nameOf = ({ edition, ordinal }: { edition: number; ordinal: number }) => `${edition} ${ordinal}`;

function toShown(passage: IndexedPassage | undefined): ShownPassage["source"] {
  if (passage === undefined) return null;
  const { sourceId: id, title, url, page, text } = passage;
  return { id, title, url, page, text };
}
