/** Conversations with what is kept of people beside them: in transcripts, and in lists that ask for it. */
import type { ConversationPage, ConversationQuery } from "../../../contracts/store/conversations.ts";
import type { ListOrder, Page, PageRequest } from "../../../contracts/store/page.ts";
import type { Conversation, Message } from "../../../domain/conversation.ts";
import type { Handoff, Person } from "../../../domain/handoff.ts";
import { pause } from "../../../lib/pause.ts";
import { toConversation } from "../rows/conversation.ts";
import { type ConversationReader, walkConversations } from "../rows/conversation-walk.ts";
import { type HandoffRow, handoffFields, hasCompanion, toHandoff } from "../rows/handoff.ts";
import { asksForMarks, createConversationExcerpts, selectMarked } from "./conversation-excerpts.ts";
import { countUnread } from "./people.ts";
import { all, columns, get, type Script, type ScriptRunner } from "./script.ts";

/** What a list of each engine is built on. */
export interface ConversationLists {
  list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>>;
  readerOf(accountId: string): ConversationReader;
}

type ListedRow = Omit<Conversation, "visitorId" | "handoff"> & { visitorId: string; number: number } & (
    | HandoffRow
    | { state: null }
  );

const shown = columns<HandoffRow>("h", handoffFields);
const conversation = columns<ListedRow>("v", [
  ...(["number", "id", "sessionId", "sealedVisitor", "messageCount", "createdAt", "updatedAt"] as const),
]);
// Of conversations, not of records, which may be missing.
const listed = `SELECT ${shown}, ${conversation}, v.companion_id AS "companionId", v.visitor_id AS "visitorId"`;

function inOrders(toText: (after: string, direction: string) => string): Record<ListOrder, string> {
  return { desc: toText("<", "DESC"), asc: toText(">", "ASC") };
}

const ofRecords = (condition: string) =>
  inOrders(
    (after, direction) => `${listed} FROM handoffs h JOIN conversations v ON v.number = h.conversation_number
  WHERE h.account_id = $1 AND ${condition} AND h.conversation_number ${after} $3 AND ${hasCompanion}
  ORDER BY h.conversation_number ${direction} LIMIT $4`,
  );

// Conditions that seem to say nothing show the databases that they can use a partial index.
export const peopleListQueries = {
  state: ofRecords("h.state = $2 AND h.state <> 'companion'"),
  status: ofRecords("h.status = $2 AND h.status IS NOT NULL"),
  all: ofRecords("$2 = ''"),
  rating: inOrders(
    (after, direction) => `${listed} FROM (SELECT DISTINCT r.conversation_number FROM ratings r
      WHERE r.account_id = $1 AND r.rating = $2 AND r.conversation_number ${after} $3
        AND EXISTS (SELECT 1 FROM companions c WHERE c.id = r.companion_id)
      ORDER BY r.conversation_number ${direction} LIMIT $4) AS rated
    JOIN conversations v ON v.number = rated.conversation_number
    LEFT JOIN handoffs h ON h.conversation_number = v.number
  ORDER BY v.number ${direction}`,
  ),
  // An account without any costs one lookup.
  records: `SELECT v.id AS "conversationId", ${shown}
    FROM conversations v JOIN handoffs h ON h.conversation_number = v.number
    WHERE v.id = ANY ($1::text[]) AND EXISTS (SELECT 1 FROM handoff_changes c WHERE c.account_id = $2)`,
  rated: `SELECT DISTINCT v.id FROM conversations v JOIN ratings r ON r.conversation_number = v.number
    WHERE v.id = ANY ($1::text[]) AND r.rating = $2`,
  authors: `SELECT a.message_id AS "messageId", a.author FROM message_authors a WHERE a.conversation_number =
    (SELECT number FROM conversations WHERE id = $1) AND a.message_id = ANY ($2::text[])`,
  before: "SELECT number FROM conversations WHERE id <= $1 ORDER BY id DESC LIMIT 1",
};

const perSlice = 200;
/** Conversations that are examined for one page. */
const maxRead = 5_000;
/** As where conversations are walked by their last change. */
const maxCost = 50_000;

export function isAboutPeople({ state, status, assigneeId, tag, unreadBy, rating }: ConversationQuery): boolean {
  return [state, status, assigneeId, tag, unreadBy, rating].some((asked) => asked != null);
}

export type PeopleLists = ReturnType<typeof createPeopleLists>;

export function createPeopleLists(scripts: ScriptRunner) {
  const excerpts = createConversationExcerpts(scripts);

  async function withRecords(accountId: string, found: readonly Conversation[]): Promise<Conversation[]> {
    if (found.length === 0) return [];
    type Row = HandoffRow & { conversationId: string };
    const ids = found.map(({ id }) => id);
    const rows = await scripts.read(() => all<Row>(peopleListQueries.records, ids, accountId));
    const recordOf = new Map(rows.map((row) => [row.conversationId, toHandoff(row.conversationId, row)]));
    return found.map((one) => ({ ...one, ...orNothing("handoff", recordOf.get(one.id)) }));
  }

  /** Those that a query about people asks for; `found` have their records. */
  function* select(
    accountId: string,
    found: readonly Conversation[],
    query: ConversationQuery,
  ): Script<Conversation[]> {
    let wanted = found.filter(({ handoff }) => isWanted(handoff ?? null, query));
    if (query.rating != null && wanted.length > 0) {
      const ids = wanted.map(({ id }) => id);
      const rated = new Set(
        (yield* all<{ id: string }>(peopleListQueries.rated, ids, query.rating)).map(({ id }) => id),
      );
      wanted = wanted.filter(({ id }) => rated.has(id));
    }
    if (query.unreadBy != null && wanted.length > 0) {
      const ids = wanted.map(({ id }) => id);
      const unread = yield* countUnread(accountId, ids, query.unreadBy);
      wanted = wanted.filter(({ id }) => (unread.get(id) ?? 0) > 0);
    }
    return yield* selectMarked(wanted, query);
  }

  /** A reader that finds only those. */
  function selecting(reader: ConversationReader, accountId: string, query: ConversationQuery): ConversationReader {
    return {
      ...reader,
      async readConversations(numbers, q) {
        const { found, cost } = await reader.readConversations(numbers, q);
        const records = await withRecords(accountId, found);
        return { found: await scripts.read(() => select(accountId, records, query)), cost };
      },
    };
  }

  /** In the order in which conversations were first kept, nearly that in which they began: only so an index has them. */
  async function walkPeople(
    reader: ConversationReader,
    accountId: string,
    query: ConversationQuery,
    page: PageRequest,
  ) {
    const { limit, afterId, order = "desc" } = page;
    const [text, value] = sourceOf(query);
    const q = query.q ?? "";
    const found: Conversation[] = [];
    let cost = 0;
    let read = 0;
    let after = await startOf(reader, afterId, order);
    for (;;) {
      const range = [accountId, value, after, perSlice];
      const rows = await scripts.readHeavy(() => all<ListedRow>(text[order], ...range));
      const fitting = rows.filter((row) => isInRange(row, query));
      const numberOf = new Map(fitting.map(({ id, number }) => [id, number]));
      let some = await scripts.readHeavy(() => select(accountId, fitting.map(toListed), query));
      if (q !== "" && some.length > 0) {
        const searched = await reader.readConversations(
          some.map(({ id }) => numberOf.get(id) ?? 0),
          q,
        );
        const matching = new Set(searched.found.map(({ id }) => id));
        some = some.filter(({ id }) => matching.has(id));
        cost += searched.cost;
      }
      found.push(...some);
      if (found.length > limit) return { items: found.slice(0, limit), nextAfterId: found[limit - 1]?.id ?? null };
      const last = rows.at(-1);
      if (last === undefined || rows.length < perSlice) return { items: found, nextAfterId: null };
      read += rows.length;
      if (read >= maxRead || cost >= maxCost) return { items: found, nextAfterId: last.id };
      after = last.number;
      await pause();
    }
  }

  async function startOf(reader: ConversationReader, afterId: string | null, order: ListOrder): Promise<number> {
    const isAsc = order === "asc";
    if (afterId === null) return isAsc ? 0 : Number.MAX_SAFE_INTEGER;
    const number = await reader.findNumber(afterId);
    if (number !== null) return number;
    // It was deleted: better some twice than one never.
    const before = await scripts.read(() => get<{ number: number }>(peopleListQueries.before, afterId));
    return (before?.number ?? 0) + (isAsc ? -1 : 1);
  }

  return {
    readExcerpts: excerpts.read,

    async list(lists: ConversationLists, accountId: string, query: ConversationQuery, page: PageRequest) {
      const { updatedSinceMs } = query;
      const isMarked = asksForMarks(query);
      if (!isAboutPeople(query) && (!isMarked || updatedSinceMs == null)) {
        const list = (one: ConversationQuery, part: PageRequest) => lists.list(accountId, one, part);
        const plain = await (isMarked ? excerpts.sift(list, query, page) : list(query, page));
        return { ...plain, items: await withRecords(accountId, plain.items) };
      }
      const reader = lists.readerOf(accountId);
      if (updatedSinceMs == null) return await walkPeople(reader, accountId, query, page);
      return await walkConversations(selecting(reader, accountId, query), { ...query, updatedSinceMs }, page);
    },

    /** For a companion that had people. */
    async complete(accountId: string, page: ConversationPage): Promise<ConversationPage> {
      const { id } = page.conversation;
      const [found = page.conversation] = await withRecords(accountId, [page.conversation]);
      const ids = page.messages.filter(({ role }) => role === "assistant").map((message) => message.id);
      type Row = { messageId: string; author: string };
      const rows = await scripts.read(() => all<Row>(peopleListQueries.authors, id, ids));
      const authorOf = new Map(rows.map(({ messageId, author }) => [messageId, JSON.parse(author) as Person]));
      const withPerson = (message: Message) => ({ ...message, ...orNothing("person", authorOf.get(message.id)) });
      return { ...page, conversation: found, messages: page.messages.map(withPerson) };
    },
  };
}

/** Plain talk is shown as where no one ever stepped in. */
function orNothing<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
}

function sourceOf({ state, status, rating }: ConversationQuery): [Record<ListOrder, string>, string] {
  const { state: ofState, status: ofStatus, rating: ofRating, all: ofAll } = peopleListQueries;
  if (state != null) return [ofState, state];
  if (rating != null) return [ofRating, rating];
  return status != null ? [ofStatus, status] : [ofAll, ""];
}

function toListed(row: ListedRow): Conversation {
  return { ...toConversation(row), ...(row.state !== null && { handoff: toHandoff(row.id, row) }) };
}

function isInRange({ companionId, visitorId, createdAt }: ListedRow, query: ConversationQuery): boolean {
  return (
    (query.companionId === null || companionId === query.companionId) &&
    (query.visitorId === null || visitorId === query.visitorId) &&
    createdAt >= (query.fromMs ?? 0) &&
    createdAt < (query.toMs ?? Number.MAX_SAFE_INTEGER)
  );
}

function isWanted(handoff: Handoff | null, { state, status, assigneeId, tag, unreadBy }: ConversationQuery): boolean {
  return (
    (state == null || handoff?.state === state) &&
    (status == null || handoff?.status === status) &&
    (assigneeId == null || handoff?.assigneeId === assigneeId) &&
    (tag == null || handoff?.tags.includes(tag) === true) &&
    (unreadBy == null || (handoff?.status ?? null) !== null)
  );
}
