/** What turns found in knowledge, and unanswered questions, as far as it is the same in every engine. */
import type { IndexedPassage } from "../../../contracts/store/editions.ts";
import type { KnowledgeStore } from "../../../contracts/store/knowledge.ts";
import type { Page, PageRequest } from "../../../contracts/store/page.ts";
import type { SeenPassage, ShownPassage, UnansweredStore } from "../../../contracts/store/unanswered.ts";
import type { PassageRef, UnansweredQuestion } from "../../../domain/knowledge.ts";
import { decodeSeen } from "../rows/knowledge.ts";
import { changes } from "./changes.ts";
import { ownsCompanion } from "./companions.ts";
import type { KnowledgeSources } from "./knowledge-sources.ts";
import { all, get, run, type Script, type ScriptRunner } from "./script.ts";

/** As many as `readPassages` takes. */
const refsAtOnce = 100;

export const selectSeen = `SELECT t.message_id AS "messageId", t.seen, t.companion_id AS "companionId" FROM knowledge_turns t
  WHERE t.conversation_number = (SELECT c.number FROM conversations c WHERE c.id = $1)
    AND t.message_id = ANY ($2::text[]) AND t.seen IS NOT NULL`;
const deleteAskings = "DELETE FROM knowledge_turns WHERE companion_id = $1 AND group_id = $2 AND group_id IS NOT NULL";

/** Without words while all of them are being erased. */
export type QuestionRow = Omit<UnansweredQuestion, "question"> & { question: string | null };

/** What each engine does differently. */
export interface OwnUnanswered extends Pick<UnansweredStore, "note" | "listOfAccount"> {
  /** The text of a query: a `QuestionRow` by `$1`, its companion, and `$2`, its id. */
  readonly selectOne: string;
  listOfCompanion(companionId: string, page: PageRequest): Promise<Page<UnansweredQuestion>>;
}

export function createUnansweredStore(
  scripts: ScriptRunner,
  { sources, readPassages }: { sources: KnowledgeSources; readPassages: KnowledgeStore["readPassages"] },
  { selectOne, listOfCompanion, ...own }: OwnUnanswered,
): UnansweredStore {
  function* find(accountId: string, companionId: string, id: string): Script<UnansweredQuestion | null> {
    if (!(yield* ownsCompanion(accountId, companionId))) return null;
    const row = yield* get<QuestionRow>(selectOne, companionId, id);
    return row === null ? null : toQuestion(row);
  }

  function* remove(accountId: string, companionId: string, id: string): Script<boolean> {
    if ((yield* find(accountId, companionId, id)) === null) return false;
    yield* run(deleteAskings, companionId, id);
    return true;
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
    ...own,

    async listSeen(conversationId, messageIds) {
      if (messageIds.length === 0) return new Map();
      const rows = await scripts.read(() =>
        all<{ messageId: string; seen: string; companionId: string }>(selectSeen, conversationId, messageIds),
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
      const isOwn = await scripts.read(() => ownsCompanion(accountId, companionId));
      return isOwn ? await listOfCompanion(companionId, page) : null;
    },

    find: (accountId, companionId, id) => scripts.read(() => find(accountId, companionId, id)),

    dismiss: (accountId, companionId, id, context) =>
      scripts.change(accountId, function* () {
        if (!(yield* remove(accountId, companionId, id))) return false;
        const change = { accountId, action: "unanswered.dismiss", targetId: id, details: { companionId } };
        yield* changes.record(context, change);
        return true;
      }),

    answer: (accountId, companionId, id, source, context) =>
      sources.answer(accountId, companionId, source, context, () => remove(accountId, companionId, id)),
  };
}

const toQuestion = ({ question, ...group }: QuestionRow): UnansweredQuestion | null =>
  question === null ? null : { ...group, question };

/** `rows`: one more than the page has, where there are more. */
export function toQuestionPage(rows: readonly QuestionRow[], limit: number): Page<UnansweredQuestion> {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    items: page.flatMap((row) => toQuestion(row) ?? []),
    ...{ nextAfterId: last?.id ?? null, nextUpdatedAt: last?.lastAskedAt ?? null },
  };
}

/** When the question before the page was asked last, and its id. */
export const startOf = ({ afterId, afterUpdatedAt, order }: PageRequest): [number, string] => [
  afterUpdatedAt ?? (order === "asc" ? -1 : Number.MAX_SAFE_INTEGER),
  afterId ?? "",
];

const nameOf = ({ edition, ordinal }: PassageRef) => `${edition} ${ordinal}`;

function toShown(passage: IndexedPassage | undefined): ShownPassage["source"] {
  if (passage === undefined) return null;
  const { sourceId: id, title, url, page, text } = passage;
  return { id, title, url, page, text };
}
