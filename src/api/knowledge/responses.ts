/** Responses of the knowledge routes: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { sourceStatuses, sourceTypes } from "../../domain/knowledge.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";

const strict = { additionalProperties: false };
const makeTime = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });
const makeUrl = () => Nullable(t.String({ examples: ["https://shop.example/returns"] }));
const makePage = () => Nullable(t.Integer({ description: "Of a PDF, from 1." }));

export const SourceObject = namedObject(
  "Source",
  () => ({
    id: t.String({ format: "uuid" }),
    type: t.Union(sourceTypes.map((type) => t.Literal(type))),
    title: t.String({ description: "What replies cite it as.", examples: ["Shipping and returns"] }),
    url: makeUrl(),
    status: t.Union(
      sourceStatuses.map((status) => t.Literal(status)),
      {
        description:
          "While it is `queued` or `indexing` anew, and after it `failed`, what was read before still answers.",
      },
    ),
    error: Nullable(t.String({ description: "Why the last reading failed, or what it left out; for people." })),
    chunks: t.Integer({ description: "Passages that answer now.", examples: [12] }),
    bytes: t.Integer({ description: "UTF-8 bytes of the text that answers now.", examples: [18_304] }),
    content_hash: Nullable(t.String({ description: "SHA-256 of the text that answers now, in hex." })),
    refresh_hours: Nullable(t.Integer({ description: "How often it is read again." })),
    progress: Nullable(
      t.Object({ done: t.Integer(), total: Nullable(t.Integer()) }, { description: "In pages, while it is read." }),
    ),
    indexed_at: Nullable(makeTime("When what answers now was read.")),
    refresh_at: Nullable(makeTime("When it is read again by itself.")),
    created_at: makeTime("When it was added."),
    updated_at: makeTime("When its content or settings were last sent."),
  }),
  strict,
);
export type Source = Static<typeof SourceObject>;

export const SourcePassage = namedObject(
  "SourcePassage",
  () => ({
    ordinal: t.Integer({ description: "Its place in the source, from 0." }),
    title: t.String({ description: "Of the source, or of its page in a sitemap." }),
    url: makeUrl(),
    page: makePage(),
    heading: Nullable(t.String({ description: "The headings above it.", examples: ["Returns > Deadlines"] })),
    text: t.String(),
  }),
  strict,
);
export type SourcePassage = Static<typeof SourcePassage>;

export const SourcePassages = namedObject(
  "SourcePassages",
  () => ({
    data: t.Array(SourcePassage, { description: "In the order of the text." }),
    next_first: Nullable(t.Integer({ description: "Send it as `first` for the next page; null on the last one." })),
  }),
  strict,
);
export type SourcePassages = Static<typeof SourcePassages>;

const FoundPassage = namedObject(
  "FoundPassage",
  () => ({
    score: t.Number({ description: "Higher is better; comparable within one answer only.", examples: [7.31] }),
    source_id: t.String({ format: "uuid" }),
    title: t.String(),
    url: makeUrl(),
    page: makePage(),
    text: t.String(),
  }),
  strict,
);

export const KnowledgeFound = namedObject(
  "KnowledgeFound",
  () => ({
    data: t.Array(FoundPassage, { description: "The best first." }),
    whole: t.Boolean({ description: "Whether a chat gets all knowledge, because it is small." }),
  }),
  strict,
);
export type KnowledgeFound = Static<typeof KnowledgeFound>;

export const UnansweredObject = namedObject(
  "UnansweredQuestion",
  () => ({
    id: t.String({ format: "uuid" }),
    question: t.String({ description: "In the words of who asked last.", examples: ["Do you ship to Norway?"] }),
    count: t.Integer({ description: "How often it was asked." }),
    first_asked_at: makeTime("When it was asked first."),
    last_asked_at: makeTime("When it was asked last."),
  }),
  strict,
);
export type UnansweredQuestion = Static<typeof UnansweredObject>;
