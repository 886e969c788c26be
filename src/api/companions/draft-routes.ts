/** `/api/companions/{id}/draft`: a change that visitors do not meet before it is published. */
import { Type as t } from "@sinclair/typebox";
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody, uncheckedBody } from "../../http/json-body.ts";
import { addTag, readCheck, respondVersioned } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { compileChecker, Nullish } from "../../http/schemas/schema.ts";
import { deleteDraft, getDraft, listConflicts, publishDraft, putDraft } from "./drafts.ts";
import { companionPatchBody } from "./model.ts";
import { CompanionObject, toVersion, toWireCompanion } from "./responses.ts";
import { getCompanion } from "./service.ts";
import { DraftObject, toDraftTag, toWireDraft } from "./version-responses.ts";

const tag = "Versions" as const;
const path = "/api/companions/{id}/draft";

const publishBody = compileChecker(() =>
  t.Object(
    {
      overwrite: Nullish(
        t.Boolean({
          description: "True: also over fields that were changed live since the draft began.",
          default: false,
        }),
      ),
    },
    { $id: "DraftPublication" },
  ),
);

export const draftRoutes: readonly Route[] = [
  route({
    id: "getDraft",
    method: "GET",
    path,
    tag,
    summary: "Read a companion's draft",
    access: "companions:read",
    document: () => ({
      responses: { 200: jsonResponse("All fields as they would be, with the draft's version.", DraftObject, "ETag") },
    }),
    async handle({ services, principal, set, params }) {
      const companion = await getCompanion(services, principal, params.id);
      const draft = await getDraft(services, companion);
      addTag(set, JSON.stringify(toDraftTag(draft)));
      return toWireDraft(companion, draft, listConflicts(companion, draft));
    },
  }),
  route({
    id: "putDraft",
    method: "PUT",
    path,
    tag,
    summary: "Draft a change of a companion",
    access: "companions:write",
    body: uncheckedBody(companionPatchBody),
    document: () => ({
      description:
        "A JSON Merge Patch over what is live, instead of an earlier draft: `{}` is a draft without a change. What a change " +
        "would refuse is 400. A draft has no tools and no sources, and visitors never meet it; a test chat with `draft` does.",
      headers: ["If-Match"],
      bodyExample: { system_prompt: "You help customers of a bicycle shop. Answer in one sentence." },
      responses: { 200: jsonResponse("The draft.", DraftObject, "ETag") },
      errors: ["limit_reached", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const companion = await getCompanion(services, principal, params.id);
      const sent = { check: readCheck(request, toDraftTag), body: await readBody() };
      const draft = await putDraft(services, principal, companion, sent, writeContext());
      addTag(set, JSON.stringify(toDraftTag(draft)));
      return toWireDraft(companion, draft, listConflicts(companion, draft));
    },
  }),
  route({
    id: "deleteDraft",
    method: "DELETE",
    path,
    tag,
    summary: "Discard a companion's draft",
    access: "companions:write",
    document: () => ({
      headers: ["If-Match"],
      responses: { 204: { description: "There is no draft any more." } },
      errors: ["precondition_failed"],
    }),
    async handle({ services, principal, request, params, writeContext }) {
      const companion = await getCompanion(services, principal, params.id);
      await deleteDraft(services, companion, readCheck(request, toDraftTag), writeContext());
    },
  }),
  route({
    id: "publishDraft",
    method: "POST",
    path: `${path}/publish`,
    tag,
    summary: "Publish a companion's draft",
    access: "companions:write",
    body: jsonBody(publishBody, { isOptional: true }),
    document: () => ({
      description:
        "Makes its fields live, in one version, and deletes it. Other fields stay as they are live. 409 `conflict` names in " +
        "`fields` those of the draft that were changed live since it began; with `overwrite` they are published all the same.",
      headers: ["If-Match", "X-Change-Note"],
      responses: { 200: jsonResponse("The companion as it is now.", CompanionObject, "ETag") },
      errors: ["limit_reached", "conflict", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const check = readCheck(request, toDraftTag);
      await getCompanion(services, principal, params.id);
      const { overwrite } = await readBody();
      const how = { check, overwrite: overwrite === true };
      const published = await publishDraft(services, principal, params.id, how, writeContext());
      return respondVersioned(request, set, toWireCompanion(published), toVersion(published));
    },
  }),
];
