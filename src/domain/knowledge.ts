/** Knowledge: what a companion's owner lets it read, the passages that are found in it, and how sources are shown. */

export const answerModes = ["free", "grounded"] as const;
export type AnswerMode = (typeof answerModes)[number];

export const citationModes = ["footer", "markers", "none"] as const;
export type CitationMode = (typeof citationModes)[number];

export const sourceTypes = ["text", "file", "url", "sitemap"] as const;
export type SourceType = (typeof sourceTypes)[number];

/** What can be read. */
export const documentKinds = ["pdf", "docx", "html", "markdown", "text", "csv"] as const;
export type DocumentKind = (typeof documentKinds)[number];

/** `queued` and `indexing` also while the passages of an earlier state still answer. */
export const sourceStatuses = ["queued", "indexing", "ready", "failed"] as const;
export type SourceStatus = (typeof sourceStatuses)[number];

export interface Source {
  id: string;
  companionId: string;
  /** What files call it: unique in the companion; null for none. */
  slug: string | null;
  type: SourceType;
  title: string;
  /** Where visitors find it; for `url` and `sitemap` also where it is read from. */
  url: string | null;
  /** 1–720; null: read again only when asked to. */
  refreshHours: number | null;
  status: SourceStatus;
  /** A public sentence: why the last reading failed, or what it left out. Null if there is nothing to report. */
  error: string | null;
  /** Of the passages that answer. */
  chunks: number;
  /** UTF-8 bytes of the text that answers. */
  bytes: number;
  /** SHA-256, hex, of the text that answers; null before there is any. */
  contentHash: string | null;
  /** SHA-256, hex, of the bytes that its owner sent last; null of what is fetched, and of a text that was added to. */
  uploadHash: string | null;
  indexedAt: number | null;
  /** When it is read again automatically; null if it is not. */
  refreshAt: number | null;
  /** How much of what is being read is done, in pages; null unless it is being read. */
  progress: SourceProgress | null;
  createdAt: number;
  /** When its owner sent its content or settings last: another moment each time, which distinguishes its versions. */
  updatedAt: number;
}

export interface SourceProgress {
  readonly done: number;
  /** Null while unknown. */
  readonly total: number | null;
}

/** Of one companion. */
export const maxSources = 500;
/** Of one companion. */
export const maxChunks = 20_000;
/** The index of an edition is in blocks of so many passages: lists of words of a block are made in a few milliseconds. */
export const passagesPerBlock = 512;
export const maxUploadBytes = 20 * 1024 * 1024;
/** Knowledge up to this size goes to the model whole. Estimated as history is. */
export const wholeKnowledgeTokens = 6_000;
/** How many passages a request to the model has beyond that. */
export const passagesPerTurn = 8;

/** What was read of a document. */
export interface ReadDocument<Text extends PageText = PageText> {
  /** Its own title; null if it has none. */
  readonly title: string | null;
  /** In order. A format without pages has one entry. */
  readonly pages: readonly ReadPage<Text>[];
}

export interface ReadPage<Text extends PageText = PageText> {
  /** From 1; null in formats without pages. */
  readonly number: number | null;
  /** Headings, lists, pipe tables and fenced code are written as Markdown. */
  readonly markdown: Text;
}

/** What is used of a string. A page of 20 MB is none: see `PiecedText`. */
export interface PageText {
  readonly length: number;
  charCodeAt(at: number): number;
  slice(start: number, end: number): string;
  indexOf(character: string, from: number): number;
}

/** As a parser returns it. */
export type ParsedDocument = ReadDocument<string>;

/** A piece of a document that is found and cited individually: never over two pages. */
export interface Chunk {
  readonly page: number | null;
  /** The headings above it, outermost first, joined by " > "; null if there are none. */
  readonly heading: string | null;
  readonly text: string;
  /** Where it stands in its page's Markdown: UTF-16 offsets, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** Estimated as history is. */
  readonly tokens: number;
}

/** A passage with where it comes from, as people and models see it. */
export interface Passage extends Pick<Chunk, "page" | "heading" | "text"> {
  readonly sourceId: string;
  /** Of the source, or of its page in a sitemap. */
  readonly title: string;
  readonly url: string | null;
}

/** Names a passage for as long as its source is not read again. */
export interface PassageRef {
  /** The indexed state of a source, which never changes. */
  readonly edition: number;
  /** From 0. */
  readonly ordinal: number;
}

/** A passage in a request to the model. */
export interface NumberedPassage extends Passage, PassageRef {
  /** Its number in that request, from 1: what markers cite. */
  readonly n: number;
}

/** Where a reply got something from, for the page that shows it. */
export interface CitedSource extends Pick<NumberedPassage, "n" | "title" | "url" | "page"> {}

/** Which passages a stream's events report: those that the reply cites, or, where it must not, all that the model saw. */
export function toldSources({ citations }: { readonly citations: CitationMode }): "cited" | "seen" {
  return citations === "none" ? "seen" : "cited";
}

/** A question that knowledge had no answer to, with all that ask the same. */
export interface UnansweredQuestion {
  id: string;
  companionId: string;
  /** As it was asked last. */
  question: string;
  count: number;
  firstAskedAt: number;
  lastAskedAt: number;
}

/** Askings kept of one companion; the oldest leave. */
export const maxAskings = 5_000;

/** Whether its turns ask for knowledge at all: those of others do nothing that could. */
export function usesKnowledge({
  hasSources,
  answerMode,
}: {
  readonly hasSources: boolean;
  readonly answerMode: AnswerMode;
}): boolean {
  return hasSources || answerMode === "grounded";
}

export const maxSourceUrlLength = 2_000;
export const sourceUrlProblem = `Must be an http or https URL without user and password, of at most ${maxSourceUrlLength} characters.`;

/**
 * Addresses of sources, as owners write them. Whether one leads to a public address is found out when it is fetched.
 */
export function isSourceUrl(text: string): boolean {
  if (text.length > maxSourceUrlLength || !/^https?:\/\/[^\s\\]+$/i.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}
