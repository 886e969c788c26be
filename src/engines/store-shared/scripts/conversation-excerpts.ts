/** What lists show of a conversation's messages: their first and last words, where a search hit, and what went wrong in it. */
import {
  type ConversationExcerpts,
  type ConversationQuery,
  type Excerpt,
  maxExcerptLength,
  type SearchHit,
} from "../../../contracts/store/conversations.ts";
import type { ListOrder, Page, PageRequest } from "../../../contracts/store/page.ts";
import type { Conversation, MessageChannel, MessageRole } from "../../../domain/conversation.ts";
import { failedEndCodes } from "../../../domain/stream-end.ts";
import { isVerifiedId } from "../../../domain/visitor.ts";
import { pause } from "../../../lib/pause.ts";
import { all, type Script, type ScriptRunner } from "./script.ts";

// Its role and its text in one value: joined to it, PostgreSQL may read all messages there are.
const messageOf = (
  condition: string,
  direction: string,
) => `SELECT v.id, (SELECT m.role || ' ' || substr(m.text, 1, 400)
    FROM messages m WHERE m.conversation_number = v.number AND ${condition}
    ORDER BY m.created_at ${direction}, m.number ${direction} LIMIT 1) AS said
  FROM conversations v WHERE v.id = ANY ($1::text[])`;
const having = (condition: string) => `SELECT v.id FROM conversations v WHERE v.id = ANY ($1::text[])
  AND EXISTS (SELECT 1 FROM messages m WHERE m.conversation_number = v.number AND ${condition})`;

export const excerptQueries = {
  first: messageOf("m.role = 'user'", "ASC"),
  last: messageOf("true", "DESC"),
  unanswered: `SELECT v.id FROM conversations v WHERE v.id = ANY ($1::text[]) AND EXISTS
    (SELECT 1 FROM knowledge_turns k WHERE k.conversation_number = v.number AND k.group_id IS NOT NULL)`,
  failed: having(`m.end_code IN (${failedEndCodes.map((code) => `'${code}'`).join(", ")})`),
  text: having("m.channel = 'text'"),
  voice: having("m.channel = 'voice'"),
  texts: `SELECT m.role, m.text FROM messages m WHERE m.conversation_number = (SELECT number FROM conversations WHERE id = $1)
    ORDER BY m.created_at DESC, m.number DESC LIMIT $2 OFFSET $3`,
};
type Mark = "unanswered" | "failed" | MessageChannel;

const perSlice = 200;
/** Messages of the conversations that are examined together, so that streams can go on. */
const messagesPerSlice = 2_000;
/** Conversations, and messages of them, that are examined for one page. */
const maxRead = 5_000;
const maxMessages = 50_000;
const textsPerRead = 100;
/** Of one conversation; a hit further back is listed without its words. */
const maxTexts = 1_000;
const maxHits = 3;
const beforeHit = 60;

type Lists = (query: ConversationQuery, page: PageRequest) => Promise<Page<Conversation>>;

export function asksForMarks({ unanswered, failed, verified, channel }: ConversationQuery): boolean {
  return [unanswered, failed, verified, channel].some((asked) => asked != null);
}

function* idsWith(mark: Mark, ids: readonly string[]): Script<ReadonlySet<string>> {
  return new Set((yield* all<{ id: string }>(excerptQueries[mark], ids)).map(({ id }) => id));
}

/** Those that have, or lack, what the query asks for. */
export function* selectMarked(found: readonly Conversation[], query: ConversationQuery): Script<Conversation[]> {
  const { verified, unanswered, failed, channel } = query;
  let wanted = found.filter(({ visitorId }) => verified == null || isVerifiedId(visitorId) === verified);
  const asked: [Mark, boolean | null | undefined][] = [
    ["unanswered", unanswered],
    ["failed", failed],
    [channel ?? "text", channel == null ? null : true],
  ];
  for (const [mark, isAsked] of asked) {
    if (isAsked == null || wanted.length === 0) continue;
    const marked = yield* idsWith(
      mark,
      wanted.map(({ id }) => id),
    );
    wanted = wanted.filter(({ id }) => marked.has(id) === isAsked);
  }
  return wanted;
}

/** In parts that do not hold up others. */
function sliced(found: readonly Conversation[]): Conversation[][] {
  const slices: Conversation[][] = [];
  let room = 0;
  for (const one of found) {
    room -= one.messageCount;
    if (slices.length === 0 || room < 0) {
      slices.push([]);
      room = messagesPerSlice - one.messageCount;
    }
    slices.at(-1)?.push(one);
  }
  return slices;
}

export function createConversationExcerpts(scripts: ScriptRunner) {
  /** Where the newest messages contain `q`, ignoring case. */
  async function findHits(id: string, q: string): Promise<SearchHit[]> {
    const folded = q.toLowerCase();
    for (let offset = 0; offset < maxTexts; offset += textsPerRead) {
      const rows = await scripts.readHeavy(() =>
        all<{ role: MessageRole; text: string }>(excerptQueries.texts, id, textsPerRead, offset),
      );
      const hits = rows.flatMap(({ role, text }) => hitOf(role, text, folded) ?? []).slice(0, maxHits);
      if (hits.length > 0 || rows.length < textsPerRead) return hits;
      await pause();
    }
    return [];
  }

  return {
    /** A list of which only those stay that have what is asked for; a page ends after a bounded amount of reading. */
    async sift(list: Lists, query: ConversationQuery, { limit, afterId, order }: PageRequest) {
      const found: Conversation[] = [];
      let messages = 0;
      let after = afterId;
      for (let read = 0; ; ) {
        const part = await list(query, { limit: perSlice, afterId: after, ...withOrder(order) });
        for (const slice of sliced(part.items)) {
          found.push(...(await scripts.readHeavy(() => selectMarked(slice, query))));
          messages += slice.reduce((sum, { messageCount }) => sum + messageCount, 0);
          if (found.length > limit) return { items: found.slice(0, limit), nextAfterId: found[limit - 1]?.id ?? null };
          const last = slice.at(-1)?.id;
          const isEnd = part.nextAfterId === null && last === part.items.at(-1)?.id;
          if (messages >= maxMessages && !isEnd && last !== undefined) return { items: found, nextAfterId: last };
          await pause();
        }
        read += perSlice;
        after = part.nextAfterId;
        // A search has bounds of its own.
        if (after === null || read >= maxRead || query.q) return { items: found, nextAfterId: after };
      }
    },

    /** Of an account's conversations, by id; see `ConversationStore.readExcerpts`. */
    async read(found: readonly Conversation[], q: string | null): Promise<Map<string, ConversationExcerpts>> {
      const excerpts = new Map<string, ConversationExcerpts>();
      for (const slice of sliced(found)) {
        const ids = slice.map(({ id }) => id);
        const read = await scripts.readHeavy(function* () {
          const [first, last] = [
            yield* all<Said>(excerptQueries.first, ids),
            yield* all<Said>(excerptQueries.last, ids),
          ];
          const [unanswered, failed] = [yield* idsWith("unanswered", ids), yield* idsWith("failed", ids)];
          const [text, voice] = [yield* idsWith("text", ids), yield* idsWith("voice", ids)];
          return { first: byId(first), last: byId(last), unanswered, failed, text, voice };
        });
        for (const id of ids) {
          excerpts.set(id, {
            first: read.first.get(id) ?? null,
            last: read.last.get(id) ?? null,
            unanswered: read.unanswered.has(id),
            failed: read.failed.has(id),
            channels: (["text", "voice"] as const).filter((channel) => read[channel].has(id)),
            hits: q === null ? null : await findHits(id, q),
          });
        }
      }
      return excerpts;
    },
  };
}

const withOrder = (order: ListOrder | undefined) => (order === undefined ? {} : { order });

/** The role, a space and the text; null without a message. */
type Said = { id: string; said: string | null };

function byId(rows: readonly Said[]): Map<string, Excerpt> {
  const excerpts = new Map<string, Excerpt>();
  for (const { id, said } of rows) {
    if (said === null) continue;
    const [role = ""] = said.split(" ", 1);
    const text = cut(onOneLine(said.slice(role.length + 1)).trim(), maxExcerptLength);
    excerpts.set(id, { role: role as MessageRole, text });
  }
  return excerpts;
}

const onOneLine = (text: string) => text.replace(/\s+/gu, " ");

/** Characters as people count them in a text, never half of one. */
function cut(text: string, max: number): string {
  return text.length <= max ? text : `${[...text.slice(0, max)].slice(0, -1).join("")}…`;
}

function hitOf(role: MessageRole, text: string, folded: string): SearchHit | null {
  const at = text.toLowerCase().indexOf(folded);
  if (at === -1) return null;
  // Some letters are longer in lower case.
  const start = lengthUpTo(text, at);
  const end = Math.max(start + 1, lengthUpTo(text, at + folded.length));
  const from = Math.max(0, start - beforeHit);
  const before = from === 0 ? text.slice(0, start) : `…${[...text.slice(from, start)].slice(1).join("")}`;
  const match = onOneLine(text.slice(start, end));
  const room = maxExcerptLength - beforeHit - match.length;
  const after = room < 2 ? "" : cut(onOneLine(text.slice(end, end + maxExcerptLength)), room);
  return { role, before: onOneLine(before).trimStart(), match, after };
}

/** How much of a text becomes so much text in lower case. */
function lengthUpTo(text: string, folded: number): number {
  if (text.toLowerCase().length === text.length) return folded;
  let [from, to] = [0, 0];
  for (const letter of text) {
    if (to >= folded) break;
    from += letter.length;
    to += letter.toLowerCase().length;
  }
  return from;
}
