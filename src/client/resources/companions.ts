/** `/api/companions`: companions, their embed tokens and quota, and chat. */
import { type ChatReply, decideOnCall, type Reply, readOnce, startChat } from "../chat.ts";
import { followLive, type LiveEvent, type LiveQuery } from "../events.ts";
import type {
  Apply,
  ApplyResult,
  BackToCompanionRelayedQuery,
  Companion,
  CompanionPatch,
  EmbedToken,
  EmbedTokenList,
  KeyChatRequest,
  KeyContactRequest,
  KeyDecisionRequest,
  KeyLiveReport,
  KeyPersonRequest,
  KeyRatingRequest,
  KeyResolvedRequest,
  LineProblem,
  ListCompanionsQuery,
  ListEmbedTokensQuery,
  NewCompanion,
  NewEmbedToken,
  PersonAsked,
  Quota,
  TestChat,
} from "../generated/wire.ts";
import { makeUuid } from "../ids.ts";
import { resumeObjects } from "../lines.ts";
import { iteratePages, type PageOf } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  type CreateOptions,
  condition,
  creationHeaders,
  type NoteOptions,
  readVersion,
  type Transport,
} from "../transport.ts";

export interface UpdateOptions extends ChangeOptions, NoteOptions {
  /** Sends a JSON Merge Patch (RFC 7396). */
  merge?: boolean | undefined;
}

/** What a list that was asked for `fields` has of a companion. */
export type PartialCompanion = Pick<Companion, "id"> & Partial<Companion>;

type Listed<Query> = Query extends { readonly fields: unknown }
  ? Query["fields"] extends undefined
    ? Companion
    : PartialCompanion
  : "fields" extends keyof Query
    ? PartialCompanion
    : Companion;

export function companionCalls(transport: Transport) {
  const at = (id: string, ...rest: string[]) => ["api", "companions", id, ...rest];
  const list = <const Query extends ListCompanionsQuery = Record<never, never>>(
    query?: Query,
    options: CallOptions = {},
  ) => transport.json<PageOf<Listed<Query>>>({ method: "GET", path: ["api", "companions"], query }, options);

  return {
    /** All or none. Rejects with `conflict` where someone else changed what is named: `error.problem` has the `drift`. */
    apply: (set: Apply, options: CreateOptions = {}) =>
      transport.json<ApplyResult>(
        { method: "POST", path: ["api", "apply"], body: set, headers: creationHeaders(options) },
        options,
      ),
    create: (companion: NewCompanion, options: CreateOptions = {}) =>
      transport.json<Companion>(
        { method: "POST", path: ["api", "companions"], body: companion, headers: creationHeaders(options) },
        options,
      ),

    /**
     * Up to 1000 in one request; yields, in their order, each companion or what is wrong with it (with its `line`, from 1). After
     * a cut it goes on where it was, and nothing is made twice.
     */
    createMany(companions: readonly NewCompanion[], options: CreateOptions = {}) {
      const content = companions.map((companion) => `${JSON.stringify(companion)}\n`).join("");
      const text = { type: "application/x-ndjson", content };
      // The same batch under the same name goes on, and is answered from its first line.
      const headers = creationHeaders({ idempotencyKey: options.idempotencyKey ?? makeUuid() });
      return resumeObjects<Companion | LineProblem>(
        () => transport.open({ method: "POST", path: ["api", "companions", "batch"], text, headers }, options),
        (durationMs) => transport.sleep(durationMs, options.signal),
        (count) => count,
      );
    },

    /** One page, newest first. */
    list,
    /** All of them, page after page. */
    listAll: <const Query extends ListCompanionsQuery = Record<never, never>>(
      query?: Query,
      options: CallOptions = {},
    ) => iteratePages<Listed<Query>, ListCompanionsQuery>(query ?? {}, (page) => list(page as Query, options)),

    get: (id: string, options: CallOptions = {}) => transport.json<Companion>({ method: "GET", path: at(id) }, options),

    /** With the version that it has: for `ifMatch`. */
    async getVersion(id: string, options: CallOptions = {}) {
      const { found: companion, etag } = await readVersion<Companion>(transport, at(id), options);
      return { companion, etag };
    },

    /**
     * Only the fields that are sent change; `null` clears one. `metadata` is replaced as a whole, or with `merge` member by
     * member, where `null` removes one.
     */
    update(id: string, patch: CompanionPatch, options: UpdateOptions = {}) {
      const { headers, ...once } = condition(options);
      const merge = options.merge === true ? { "content-type": "application/merge-patch+json" } : {};
      return transport.json<Companion>(
        { method: "PATCH", path: at(id), body: patch, headers: { ...headers, ...merge }, ...once },
        options,
      );
    },

    /** With its tokens and conversations; its usage stays. */
    delete: (id: string, options: ChangeOptions = {}) =>
      transport.send({ method: "DELETE", path: at(id), ...condition(options) }, options),

    /** PNG, JPEG or WebP, which the blob's `type` names; at most 2 MiB and 20 million pixels. */
    setAvatar: (id: string, image: Blob, options: ChangeOptions = {}) =>
      transport.json<Companion>({ method: "PUT", path: at(id, "avatar"), form: image, ...condition(options) }, options),
    deleteAvatar: (id: string, options: ChangeOptions = {}) =>
      transport.send({ method: "DELETE", path: at(id, "avatar"), ...condition(options) }, options),

    /** What is left of today's messages and voice sessions. */
    quota: (id: string, options: CallOptions = {}) =>
      transport.json<Quota>({ method: "GET", path: at(id, "quota") }, options),

    /** Erases all messages of a visitor, under this id or verified under this name. */
    eraseVisitor: (id: string, visitor: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: at(id, "visitors", visitor) }, options),

    /** Sends a visitor's message, and streams the reply. */
    chat: (id: string, message: KeyChatRequest, options: CallOptions = {}): ChatReply =>
      startChat(transport, id, message, options),

    /**
     * Passes on what the visitor decided about a reply's `confirmation`, and streams how the reply goes on. It can be done
     * once, and a stream that breaks cannot be come back to.
     */
    confirm: (id: string, callId: string, decision: KeyDecisionRequest, options: CallOptions = {}): Reply =>
      decideOnCall(transport, id, { callId, body: decision }, options),

    /** Asks for a person of the team, for a visitor. Once the state is not `companion`, messages are kept for people. */
    askForPerson: (id: string, ask: KeyPersonRequest, options: CallOptions = {}) =>
      transport.json<PersonAsked>({ method: "POST", path: at(id, "person"), body: ask }, options),

    /**
     * What happens in a visitor's conversation while people have it, from each message beyond `after` on. Comes back after
     * every cut; ends when the companion answers again, in mode `any` never.
     */
    live: (id: string, query: LiveQuery, options: CallOptions = {}): AsyncIterableIterator<LiveEvent> =>
      followLive(transport, id, query, options),

    /** What the visitor types and has seen. */
    reportLive: (id: string, report: KeyLiveReport, options: CallOptions = {}) =>
      transport.send({ method: "POST", path: at(id, "live"), body: report }, options),

    /** The companion answers the visitor again. */
    backToCompanion: (id: string, query: BackToCompanionRelayedQuery, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: at(id, "person"), query }, options),

    /** Leaves a visitor's contact for the team. */
    leaveContact: (id: string, contact: KeyContactRequest, options: CallOptions = {}) =>
      transport.send({ method: "POST", path: at(id, "contact"), body: contact }, options),

    /** `messageId`: the client's name of the message that the reply answers. */
    rate: (id: string, messageId: string, rating: KeyRatingRequest, options: CallOptions = {}) =>
      transport.send({ method: "PUT", path: at(id, "ratings", messageId), body: rating }, options),

    /** The visitor's word on whether it is resolved. */
    setResolved: (id: string, resolved: KeyResolvedRequest, options: CallOptions = {}) =>
      transport.send({ method: "PUT", path: at(id, "resolved"), body: resolved }, options),

    /** Tries the companion as its owner: no conversation is stored. */
    testChat: (id: string, message: TestChat, options: CallOptions = {}): AsyncGenerator<string, void, undefined> =>
      readOnce(transport.open({ method: "POST", path: at(id, "test-chat"), body: message, isOnce: true }, options)),

    embedTokens: {
      list: (id: string, query: ListEmbedTokensQuery = {}, options: CallOptions = {}) =>
        transport.json<EmbedTokenList>({ method: "GET", path: at(id, "embed-tokens"), query }, options),

      create: (id: string, token: NewEmbedToken = {}, options: CreateOptions = {}) =>
        transport.json<EmbedToken>(
          { method: "POST", path: at(id, "embed-tokens"), body: token, headers: creationHeaders(options) },
          options,
        ),

      /** Refused from now on. */
      revoke: (id: string, tokenId: string, options: CallOptions = {}) =>
        transport.send({ method: "DELETE", path: at(id, "embed-tokens", tokenId) }, options),
    },
  };
}
