/** `GET /api/audit`: who changed what, when, from where. */
import { jsonResponse } from "../../http/api-description.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { rangeQuery, valueQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { Text } from "../../http/schemas/schema.ts";
import { toUuid } from "../../lib/ids.ts";
import { AuditEntryObject, actorsWithoutId, exampleId, toWireAuditEntry } from "./responses.ts";

const action = valueQuery(
  "action",
  () =>
    Text({
      maxLength: 100,
      description: "Only this action, as `key.create`, or all of a kind, as `key`.",
      examples: ["companion.update"],
    }),
  (text) => (/^[a-z_]{1,40}(\.[a-z_]{1,40})?$/.test(text) ? text : undefined),
  "Must be an action, as key.create, or what stands before its point, as key.",
);
const actor = valueQuery(
  "actor",
  () =>
    Text({
      maxLength: 100,
      description:
        "Only what this key, this member, or with the account's own ID its own sign-in has done, by ID; or one of the kinds " +
        "`operator`, `cli`, `system`, `visitor`, `model` and `clock`.",
      examples: [exampleId],
    }),
  (text) => toUuid(text) ?? actorsWithoutId.find((kind) => kind === text),
  `Must be an ID or one of: ${actorsWithoutId.join(", ")}.`,
);

export const auditRoutes: readonly Route[] = [
  route({
    id: "listAudit",
    method: "GET",
    path: "/api/audit",
    tag: "Audit",
    summary: "List who changed what, when, from where",
    access: "audit:read",
    query: { range: rangeQuery, action, actor, page: pageQuery },
    document: () => ({
      description:
        "With `action` or `actor` a page may have fewer entries than `limit` though more follow: go on while there is a " +
        "`next_cursor`.",
      responses: { 200: jsonResponse("A page of entries.", listOf(AuditEntryObject, "AuditList")) },
    }),
    async handle({ services, principal, query: { range, action, actor, page } }) {
      const closed = { fromMs: range.fromMs ?? 0, toMs: range.toMs ?? Number.MAX_SAFE_INTEGER };
      const { audit } = services.store;
      const { id } = principal.account;
      const found = await audit.list(id, closed, page, { action, actor });
      const ids = found.items.map((entry) => entry.id);
      const names = ids.length === 0 ? null : await audit.readNames(id, ids);
      return toWireList(found, (entry) => toWireAuditEntry(entry, names?.get(entry.id) ?? null));
    },
  }),
];
