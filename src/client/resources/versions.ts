/** What companions were, and what drafts make of them. */
import type {
  Companion,
  CompanionDraft,
  CompanionPatch,
  CompanionSetFacts,
  CompanionVersionList,
  DraftPublication,
  ListVersionsQuery,
  RestoredCompanion,
  VersionDiff,
  WholeCompanionVersion,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import {
  type CallOptions,
  type ChangeOptions,
  condition,
  type NoteOptions,
  readVersion,
  type Transport,
} from "../transport.ts";

export function versionCalls(transport: Transport) {
  const at = (id: string, ...rest: (string | number)[]) => ["api", "companions", id, "versions", ...rest.map(String)];
  const list = (id: string, query: ListVersionsQuery = {}, options: CallOptions = {}) =>
    transport.json<CompanionVersionList>({ method: "GET", path: at(id), query }, options);

  return {
    /** One page, newest first. */
    list,
    listAll: (id: string, query: ListVersionsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(id, page, options)),

    get: (id: string, number: number, options: CallOptions = {}) =>
      transport.json<WholeCompanionVersion>({ method: "GET", path: at(id, number) }, options),

    /** What is different in version `to`; left out, in the newest. */
    diff: (id: string, number: number, query: { to?: number | undefined } = {}, options: CallOptions = {}) =>
      transport.json<VersionDiff>({ method: "GET", path: at(id, number, "diff"), query }, options),

    /** Which files the companion comes from, and what of it they name. */
    set: (id: string, options: CallOptions = {}) =>
      transport.json<CompanionSetFacts>({ method: "GET", path: ["api", "companions", id, "set"] }, options),

    /** Makes a new version with the fields and tools of this one. `ifMatch`: the companion's `ETag`. */
    restore: (id: string, number: number, options: ChangeOptions & NoteOptions = {}) =>
      transport.json<RestoredCompanion>(
        { method: "POST", path: at(id, number, "restore"), ...condition(options) },
        options,
      ),
  };
}

export function draftCalls(transport: Transport) {
  const at = (id: string, ...rest: string[]) => ["api", "companions", id, "draft", ...rest];

  return {
    /** All fields as they would be. */
    get: (id: string, options: CallOptions = {}) =>
      transport.json<CompanionDraft>({ method: "GET", path: at(id) }, options),

    /** With its `ETag`: for `ifMatch`. */
    async getVersion(id: string, options: CallOptions = {}) {
      const { found: draft, etag } = await readVersion<CompanionDraft>(transport, at(id), options);
      return { draft, etag };
    },

    /** A JSON Merge Patch over what is live, instead of an earlier draft. */
    put: (id: string, patch: CompanionPatch, options: ChangeOptions = {}) =>
      transport.json<CompanionDraft>({ method: "PUT", path: at(id), body: patch, ...condition(options) }, options),

    delete: (id: string, options: ChangeOptions = {}) =>
      transport.send({ method: "DELETE", path: at(id), ...condition(options) }, options),

    /** Makes the draft live; rejects with `conflict` where its fields were changed meanwhile, unless `overwrite`. */
    publish: (id: string, publication: DraftPublication = {}, options: ChangeOptions & NoteOptions = {}) =>
      transport.json<Companion>(
        { method: "POST", path: at(id, "publish"), body: publication, ...condition(options), isOnce: true },
        options,
      ),
  };
}
