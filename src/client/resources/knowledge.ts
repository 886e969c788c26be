/** What companions read, what is found there, and the questions that it has no answer to. */
import type {
  AccountQuestionList,
  AccountSourceList,
  KnowledgeFound,
  KnowledgeSearch,
  ListAccountSourcesQuery,
  ListAccountUnansweredQuery,
  ListSourcePassagesQuery,
  ListSourcesQuery,
  ListUnansweredQuery,
  NewSitemapSource,
  NewTextSource,
  NewUrlSource,
  QuestionAnswer,
  Source,
  SourceList,
  SourcePassages,
  UnansweredList,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  condition,
  creationHeaders,
  type NoteOptions,
  noteHeaders,
  readVersion,
  type Transport,
} from "../transport.ts";

export interface SourceFile {
  /** A `File` brings its name. */
  file: Blob | Uint8Array<ArrayBuffer>;
  /** With its file extension, which gives its type; needed where `file` is no `File`. */
  name?: string | undefined;
  /** What replies cite it as; default: the name. */
  title?: string | undefined;
  /** Where visitors find it. */
  url?: string | undefined;
}

type NewSource = NewTextSource | NewUrlSource | NewSitemapSource | SourceFile;

/** An upload may take minutes, in which the server sends nothing. */
const uploadTimeoutMs = 300_000;

export function sourceCalls(transport: Transport) {
  const at = (companionId: string, ...rest: string[]) => ["api", "companions", companionId, "sources", ...rest];
  const list = (companionId: string, query: ListSourcesQuery = {}, options: CallOptions = {}) =>
    transport.json<SourceList>({ method: "GET", path: at(companionId), query }, options);

  return {
    /** A text, a page, a sitemap or a file. It is read in the background: see its `status`. */
    create: (companionId: string, source: NewSource, options: CreateOptions & NoteOptions = {}) =>
      transport.json<Source>(
        {
          method: "POST",
          path: at(companionId),
          ...toContent(source),
          headers: { ...creationHeaders(options), ...noteHeaders(options) },
        },
        withTime(source, options),
      ),

    /** One page, newest first. */
    list,
    listAll: (companionId: string, query: ListSourcesQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(companionId, page, options)),

    /** One page of all companions, newest first; `status` filters. */
    listOfAccount: (query: ListAccountSourcesQuery = {}, options: CallOptions = {}) =>
      transport.json<AccountSourceList>({ method: "GET", path: ["api", "sources"], query }, options),

    get: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.json<Source>({ method: "GET", path: at(companionId, id) }, options),

    /** With the version that it has, however it is read meanwhile: for `ifMatch`. */
    async getVersion(companionId: string, id: string, options: CallOptions = {}) {
      const { found: source, etag } = await readVersion<Source>(transport, at(companionId, id), options);
      return { source, etag };
    },

    /** What the owner of a text wrote, as it was sent last. */
    text: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.text({ method: "GET", path: at(companionId, id, "text") }, options),

    /** Of the same type. What was read before answers until the new content is read. */
    replace: (companionId: string, id: string, source: NewSource, options: ChangeOptions & NoteOptions = {}) =>
      transport.json<Source>(
        { method: "PUT", path: at(companionId, id), ...toContent(source), ...condition(options) },
        withTime(source, options),
      ),

    /** Nothing of it answers from then on. */
    delete: (companionId: string, id: string, options: ChangeOptions & NoteOptions = {}) =>
      transport.send({ method: "DELETE", path: at(companionId, id), ...condition(options) }, options),

    /** Reads a page or a sitemap again. */
    refresh: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.json<Source>({ method: "POST", path: at(companionId, id, "refresh") }, options),

    /** What answers now; `next_first` is the next page's `first`. */
    passages: (companionId: string, id: string, query: ListSourcePassagesQuery = {}, options: CallOptions = {}) =>
      transport.json<SourcePassages>({ method: "GET", path: at(companionId, id, "passages"), query }, options),
  };
}

export function knowledgeCalls(transport: Transport) {
  return {
    /** What a chat would find, with scores. */
    search: (companionId: string, search: KnowledgeSearch, options: CallOptions = {}) =>
      transport.json<KnowledgeFound>(
        { method: "POST", path: ["api", "companions", companionId, "knowledge", "search"], body: search },
        options,
      ),
  };
}

export function unansweredCalls(transport: Transport) {
  const at = (companionId: string, ...rest: string[]) => ["api", "companions", companionId, "unanswered", ...rest];
  const list = (companionId: string, query: ListUnansweredQuery = {}, options: CallOptions = {}) =>
    transport.json<UnansweredList>({ method: "GET", path: at(companionId), query }, options);

  return {
    /** One page, the question asked last first. */
    list,
    listAll: (companionId: string, query: ListUnansweredQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(companionId, page, options)),

    /** One page of all companions, the question asked last first. */
    listOfAccount: (query: ListAccountUnansweredQuery = {}, options: CallOptions = {}) =>
      transport.json<AccountQuestionList>({ method: "GET", path: ["api", "unanswered"], query }, options),

    /** Makes a source of the answer; the question leaves the list. */
    answer: (companionId: string, id: string, answer: QuestionAnswer, options: CreateOptions = {}) =>
      transport.json<Source>(
        { method: "POST", path: at(companionId, id, "answer"), body: answer, headers: creationHeaders(options) },
        options,
      ),

    dismiss: (companionId: string, id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: at(companionId, id) }, options),
  };
}

function isFile(source: NewSource): source is SourceFile {
  return (source as Partial<SourceFile>).file !== undefined;
}

function withTime(source: NewSource, options: CallOptions): CallOptions {
  const { text } = source as Partial<NewTextSource>;
  return isFile(source) || text !== undefined
    ? { ...options, timeoutMs: options.timeoutMs ?? uploadTimeoutMs }
    : options;
}

function toContent(source: NewSource): { body: object } | { form: FormData } {
  if (!isFile(source)) return { body: source };
  const { file, name, title, url } = source;
  const form = new FormData();
  const ownName = "name" in file && typeof file.name === "string" ? file.name : "file";
  form.append("file", file instanceof Uint8Array ? new Blob([file]) : file, name ?? ownName);
  if (title !== undefined) form.append("title", title);
  if (url !== undefined) form.append("url", url);
  return { form };
}
