/** What an account can do with the knowledge of its companions; everything is found within the account. */
import type { NewSource, SourceCheck, SourceUpload, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { invalidFields, missing, readId } from "../../domain/errors.ts";
import { maxSources, type Source, type UnansweredQuestion } from "../../domain/knowledge.ts";
import { toTitle } from "../../http/schemas/source-fields.ts";
import { digestInSlices } from "../../lib/byte-slices.ts";
import { toLaterMs } from "../../lib/clock.ts";
import { readSource, type SentContent, type SentSource } from "./sent-source.ts";

type KnowledgeServices = Pick<Services, "store" | "ids" | "indexing">;

/** What is about to be made, as it is then read; `write` commits it. */
export interface PreparedSource {
  made: Source;
  write(context: WriteContext): Promise<void>;
}

/** Throws `not_found`. */
export async function getCompanion({ store }: Pick<Services, "store">, accountId: string, id: string) {
  const companion = await store.companions.find(accountId, readId(id, "companion"));
  if (companion === null) throw missing("companion");
  return companion;
}

/** Throws `not_found`. */
export async function getSource(
  { store }: Pick<Services, "store">,
  accountId: string,
  companionId: string,
  id: string,
): Promise<Source> {
  const source = await store.knowledge.find(accountId, readId(companionId, "companion"), readId(id, "source"));
  if (source === null) throw missing("source");
  return source;
}

/** Throws `not_found`. */
export async function getQuestion(
  { store }: Pick<Services, "store">,
  accountId: string,
  companionId: string,
  id: string,
): Promise<UnansweredQuestion> {
  const question = await store.unanswered.find(accountId, readId(companionId, "companion"), readId(id, "question"));
  if (question === null) throw missing("question");
  return question;
}

export async function prepareSource(
  services: KnowledgeServices,
  accountId: string,
  companionId: string,
  sent: unknown,
  nowMs: number,
): Promise<PreparedSource> {
  const source = await toNewSource(services, readSource(sent));
  return {
    made: toMadeSource(companionId, source, nowMs),
    async write(context) {
      const created = await services.store.knowledge.create(accountId, companionId, source, context);
      if (created === null) throw missing("companion");
      services.indexing.wake();
    },
  };
}

/** Another server, or a command, may have queued it, and may be gone: a request that shows it has it read here. */
export function noteQueued({ indexing }: Pick<Services, "indexing">, sources: readonly Source[]): void {
  if (sources.some(({ status }) => status === "queued")) indexing.wake();
}

/**
 * Makes a text of the answer, titled by the question, which leaves the list. Where the companion has all the sources that
 * it may have, the answer goes into one for all of them, under the question.
 */
export async function prepareAnswer(
  services: KnowledgeServices,
  accountId: string,
  question: UnansweredQuestion,
  text: string,
  nowMs: number,
): Promise<PreparedSource> {
  const { companionId } = question;
  const { knowledge } = services.store;
  const held = await knowledge.list(accountId, companionId, { limit: maxSources, afterId: null });
  const isFull = held?.items.length === maxSources;
  const answers = isFull ? await knowledge.find(accountId, companionId, companionId) : null;
  const heading = toTitle(question.question);
  const sent = isFull
    ? { title: "Answers", text: `${answers === null ? "" : "\n\n"}## ${heading}\n\n${text}\n` }
    : { title: heading, text };
  const made = await toNewSource(services, readSource({ type: "text", ...sent }));
  const source = isFull ? { ...made, id: companionId } : made;
  const queued = { status: "queued", error: null, refreshAt: null, progress: null } as const;
  return {
    made:
      answers === null
        ? toMadeSource(companionId, source, nowMs)
        : { ...answers, ...queued, updatedAt: toLaterMs(nowMs, answers.updatedAt) },
    async write(context) {
      const created = await services.store.unanswered.answer(accountId, companionId, question.id, source, context);
      if (created === null) throw missing("question");
      services.indexing.wake();
    },
  };
}

/** Throws `invalid_request` if another type is sent, and `not_found`. */
export async function replaceSource(
  services: KnowledgeServices,
  accountId: string,
  current: Source,
  { sent, check }: { sent: unknown; check: SourceCheck | undefined },
  context: WriteContext,
): Promise<Source> {
  const { type, title, url, refreshHours, slug, content } = readSource(sent);
  if (type !== current.type) {
    throw invalidFields([{ param: "type", detail: `Must be ${current.type}: a source keeps its type.` }]);
  }
  // The title of a page that was read is known.
  const isKnown = content === null && url === current.url;
  const change = {
    ...(isKnown ? {} : { title }),
    ...{ url, refreshHours, ...(slug === undefined ? {} : { slug }) },
    ...(content === null ? {} : { upload: await toUpload(services, content) }),
  };
  const { companionId, id } = current;
  const replaced = await services.store.knowledge.replace(accountId, companionId, id, change, context, check);
  if (replaced === null) throw missing("source");
  services.indexing.wake();
  return replaced;
}

/** Throws `invalid_request` for what is not fetched, and `not_found`. */
export async function refreshSource(
  { store, indexing }: KnowledgeServices,
  accountId: string,
  { companionId, id, type }: Source,
  context: WriteContext,
): Promise<Source> {
  if (type === "text" || type === "file") {
    throw invalidFields([{ param: "source_id", detail: "Only URLs and sitemaps are read again; send new content." }]);
  }
  const queued = await store.knowledge.refresh(accountId, companionId, id, context);
  if (queued === null) throw missing("source");
  indexing.wake();
  return queued;
}

/** With its ids. */
export async function toNewSource(
  services: Pick<Services, "ids">,
  { content, ...facts }: SentSource,
): Promise<NewSource> {
  const upload = content === null ? null : await toUpload(services, content);
  return { id: services.ids.uuid(), ...facts, upload };
}

async function toUpload({ ids }: Pick<Services, "ids">, content: SentContent): Promise<SourceUpload> {
  return { id: ids.uuid(), ...content, hash: await digestInSlices([content.bytes]) };
}

/** As the store makes it. */
function toMadeSource(companionId: string, source: NewSource, nowMs: number): Source {
  const { upload, ...facts } = source;
  const unread = { error: null, chunks: 0, bytes: 0, contentHash: null, indexedAt: null, refreshAt: null };
  const sent = { slug: facts.slug ?? null, uploadHash: upload?.hash ?? null };
  return {
    ...facts,
    ...sent,
    ...unread,
    companionId,
    status: "queued",
    progress: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}
