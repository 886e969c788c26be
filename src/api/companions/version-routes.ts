/** `/api/companions/{id}/versions`: what a companion was, and how it becomes that again. */
import { missing, readId } from "../../domain/errors.ts";
import { maxVersions } from "../../domain/version.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { listOf, numberedPageQuery, toWireList } from "../../http/paging.ts";
import { addTag, readCheck } from "../../http/preconditions.ts";
import { valueQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { toVersion, toWireCompanion } from "./responses.ts";
import { getVersion, restoreVersion } from "./restore.ts";
import { getCompanion } from "./service.ts";
import { listChanges, toWireSource } from "./version-changes.ts";
import {
  makeNumber,
  RestoredObject,
  toWireVersion,
  toWireWholeVersion,
  VersionDiffObject,
  VersionObject,
  WholeVersionObject,
} from "./version-responses.ts";

const tag = "Versions" as const;
const path = "/api/companions/{id}/versions";
const makeParams = () => ({ id: idParam("companion"), number: makeNumber("The version's number.") });

export const versionRoutes: readonly Route[] = [
  route({
    id: "listVersions",
    method: "GET",
    path,
    tag,
    summary: "List a companion's versions",
    access: "companions:read",
    query: { page: numberedPageQuery },
    document: () => ({
      description:
        "Each change of its fields, its tools or the list of its sources made one; a companion that never changed has " +
        `version 1. The newest ${maxVersions} are kept, and those by which kept messages were answered.`,
      responses: { 200: jsonResponse("A page of versions.", listOf(VersionObject, "CompanionVersionList")) },
    }),
    async handle({ services, principal, params, query: { page } }) {
      const companionId = readId(params.id, "companion");
      const found = await services.store.versions.list(principal.account.id, companionId, page);
      if (found === null) throw missing("companion");
      const numbered = found.items.map((facts) => ({ ...facts, id: String(facts.number) }));
      const nextAfterId = found.nextAfterNumber === null ? null : String(found.nextAfterNumber);
      return toWireList({ items: numbered, nextAfterId }, toWireVersion);
    },
  }),
  route({
    id: "getVersion",
    method: "GET",
    path: `${path}/{number}`,
    tag,
    summary: "Read a version",
    access: "companions:read",
    document: () => ({
      params: makeParams(),
      responses: { 200: jsonResponse("The version, with all that it has.", WholeVersionObject) },
    }),
    async handle({ services, principal, params }) {
      const companion = await getCompanion(services, principal, params.id);
      return toWireWholeVersion(await getVersion(services, companion, params.number));
    },
  }),
  route({
    id: "compareVersions",
    method: "GET",
    path: `${path}/{number}/diff`,
    tag,
    summary: "Compare two versions",
    access: "companions:read",
    query: {
      to: valueQuery(
        "to",
        () => makeNumber("The version to compare with. Left out: the newest."),
        (text) => (/^[1-9]\d{0,8}$/.test(text) ? text : undefined),
        "Must be the number of a version.",
      ),
    },
    document: () => ({
      params: makeParams(),
      responses: { 200: jsonResponse("What is different, by field.", VersionDiffObject) },
    }),
    async handle({ services, principal, params, query: { to } }) {
      const companion = await getCompanion(services, principal, params.id);
      const [from, until] = await Promise.all([
        getVersion(services, companion, params.number),
        getVersion(services, companion, to ?? String(companion.version)),
      ]);
      return { changes: listChanges(from, until) };
    },
  }),
  route({
    id: "restoreVersion",
    method: "POST",
    path: `${path}/{number}/restore`,
    tag,
    summary: "Restore a version",
    access: "companions:write",
    document: () => ({
      description:
        "Makes a new version with the fields and tools of this one; `enabled` stays. Sources do not come back: " +
        "`missing_sources` lists those that are gone. Tools are joined by name and keep their secret and headers; those " +
        "that were gone get a new secret. What a change would refuse today is 400, and nothing changes.",
      params: makeParams(),
      headers: ["If-Match", "X-Change-Note"],
      responses: { 200: jsonResponse("The companion as it is now.", RestoredObject, "ETag") },
      errors: ["invalid_request", "limit_reached", "conflict", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, writeContext }) {
      const check = readCheck(request, toVersion);
      const wanted = { id: params.id, number: params.number, check };
      const { companion, missingSources, newTools } = await restoreVersion(services, principal, wanted, writeContext());
      const wire = toWireCompanion(companion);
      addTag(set, JSON.stringify(toVersion(companion)));
      return {
        ...wire,
        missing_sources: missingSources.map(toWireSource),
        new_tools: newTools.map(({ id, settings }) => ({
          id,
          name: settings.name,
          header_names: settings.headerNames,
        })),
      };
    },
  }),
];
