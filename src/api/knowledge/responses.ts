/** Responses of the knowledge routes: their schemas, created on first use, and the conversion into them. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { IndexedPassage } from "../../contracts/store/store.ts";
import type { FoundPassage as PassageFound } from "../../core/knowledge/retrieval/found.ts";
import {
  type UnansweredQuestion as StoredQuestion,
  type Source as StoredSource,
  sourceStatuses,
  sourceTypes,
} from "../../domain/knowledge.ts";
import { closedObject, instant } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";

const makeUrl = () => Nullable(t.String({ examples: ["https://shop.example/returns"] }));
const makePage = () => Nullable(t.Integer({ description: "Of a PDF, from 1." }));

export const SourceObject = closedObject("Source", () => ({
  id: t.String({ format: "uuid" }),
  slug: Nullable(t.String({ description: "What files call it; null for none.", examples: ["returns"] })),
  type: OneOf(sourceTypes),
  title: t.String({ description: "What replies cite it as.", examples: ["Shipping and returns"] }),
  url: makeUrl(),
  status: OneOf(sourceStatuses, {
    description: "While it is `queued` or `indexing` again, and after it `failed`, what was read before still answers.",
  }),
  error: Nullable(t.String({ description: "Why the last reading failed, or what it left out; for people." })),
  chunks: t.Integer({ description: "Passages that answer now.", examples: [12] }),
  bytes: t.Integer({ description: "UTF-8 bytes of the text that answers now.", examples: [18_304] }),
  content_hash: Nullable(t.String({ description: "SHA-256 of the text that answers now, in hex." })),
  refresh_hours: Nullable(t.Integer({ description: "How often it is read again." })),
  progress: Nullable(
    t.Object({ done: t.Integer(), total: Nullable(t.Integer()) }, { description: "In pages, while it is read." }),
  ),
  indexed_at: Nullable(instant("When what answers now was read.")),
  refresh_at: Nullable(instant("When it is next read again automatically.")),
  created_at: instant("When it was added."),
  updated_at: instant("When its content or settings were last sent."),
}));
export type Source = Static<typeof SourceObject>;

export const SourcePassage = closedObject("SourcePassage", () => ({
  ordinal: t.Integer({ description: "Its position in the source, from 0." }),
  title: t.String({ description: "Of the source, or of its page in a sitemap." }),
  url: makeUrl(),
  page: makePage(),
  heading: Nullable(t.String({ description: "The headings above it.", examples: ["Returns > Deadlines"] })),
  text: t.String(),
}));
export type SourcePassage = Static<typeof SourcePassage>;

export const SourcePassages = closedObject("SourcePassages", () => ({
  data: t.Array(SourcePassage, { description: "In the order of the text." }),
  next_first: Nullable(t.Integer({ description: "Send it as `first` for the next page; null on the last one." })),
}));
export type SourcePassages = Static<typeof SourcePassages>;

const FoundPassage = closedObject("FoundPassage", () => ({
  score: t.Number({ description: "Higher is better; comparable within one answer only.", examples: [7.31] }),
  source_id: t.String({ format: "uuid" }),
  title: t.String(),
  url: makeUrl(),
  page: makePage(),
  text: t.String(),
}));

export const KnowledgeFound = closedObject("KnowledgeFound", () => ({
  data: t.Array(FoundPassage, { description: "The best first." }),
  whole: t.Boolean({ description: "Whether a chat gets all knowledge, because it is small." }),
}));
export type KnowledgeFound = Static<typeof KnowledgeFound>;

export const UnansweredObject = closedObject("UnansweredQuestion", () => ({
  id: t.String({ format: "uuid" }),
  question: t.String({ description: "In the words of who asked last.", examples: ["Do you ship to Norway?"] }),
  count: t.Integer({ description: "How often it was asked." }),
  first_asked_at: instant("When it was asked first."),
  last_asked_at: instant("When it was asked last."),
}));
export type UnansweredQuestion = Static<typeof UnansweredObject>;

export function toWireSource(source: StoredSource): Source {
  return {
    id: source.id,
    slug: source.slug,
    type: source.type,
    title: source.title,
    url: source.url,
    status: source.status,
    error: source.error,
    chunks: source.chunks,
    bytes: source.bytes,
    content_hash: source.contentHash,
    refresh_hours: source.refreshHours,
    progress: source.progress === null ? null : { done: source.progress.done, total: source.progress.total },
    indexed_at: toNullableRfc3339(source.indexedAt),
    refresh_at: toNullableRfc3339(source.refreshAt),
    created_at: toRfc3339(source.createdAt),
    updated_at: toRfc3339(source.updatedAt),
  };
}

export function toWirePassage({ ordinal, title, url, page, heading, text }: IndexedPassage): SourcePassage {
  return { ordinal, title, url, page, heading, text };
}

export function toWireFound({ score, sourceId, title, url, page, text }: PassageFound): Static<typeof FoundPassage> {
  return { score, source_id: sourceId, title, url, page, text };
}

export function toWireQuestion(question: StoredQuestion): UnansweredQuestion {
  return {
    id: question.id,
    question: question.question,
    count: question.count,
    first_asked_at: toRfc3339(question.firstAskedAt),
    last_asked_at: toRfc3339(question.lastAskedAt),
  };
}

const makeId = () => ({ companion_id: t.String({ format: "uuid" }) });

export const AccountQuestionObject = closedObject("AccountQuestion", () => ({
  ...makeId(),
  ...UnansweredObject.properties,
}));
export type AccountQuestion = Static<typeof AccountQuestionObject>;

export const AccountSourceObject = closedObject("AccountSource", () => ({ ...makeId(), ...SourceObject.properties }));
export type AccountSource = Static<typeof AccountSourceObject>;
