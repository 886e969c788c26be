/** `/api/leads`: contacts that visitors have left, as JSON or CSV. */
import type { ContactQuery, PageRequest, StoredContact } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { missing, readId } from "../../domain/errors.ts";
import { type ContactFacts, sealedContactName } from "../../domain/feedback.ts";
import { idParam } from "../../http/api-description.ts";
import { prefers, varyBy } from "../../http/compression.ts";
import { toCell } from "../../http/csv.ts";
import { encodeCursor, listOf, movingPageQuery, toWireList } from "../../http/paging.ts";
import { respondInParts, writeRows } from "../../http/parts-response.ts";
import { rangeQuery, uuidQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { openOrNull } from "../../lib/sealing.ts";
import { LeadObject, leadColumns, toWireLead } from "./responses.ts";

/** Of a CSV file whose `limit` is left out. */
const maxCsvRows = 10_000;
const rowsPerRead = 100;

type LeadServices = Pick<Services, "store" | "sealing">;

async function show({ sealing }: LeadServices, contact: StoredContact) {
  const opened = await openOrNull(sealing, sealedContactName(contact.companionId), contact.sealed);
  const facts: ContactFacts | null = opened === null ? null : JSON.parse(opened);
  return toWireLead(contact, facts);
}

/** At most `page.limit`, a part at a time, and where the list goes on. */
async function readLeads(services: LeadServices, accountId: string, query: ContactQuery, page: PageRequest) {
  const leads: Awaited<ReturnType<typeof show>>[] = [];
  for (let part = page; ; ) {
    const limit = Math.min(rowsPerRead, page.limit - leads.length);
    const found = await services.store.feedback.listContacts(accountId, query, { ...part, limit });
    leads.push(...(await Promise.all(found.items.map((contact) => show(services, contact)))));
    const { nextAfterId, nextUpdatedAt = null } = found;
    if (nextAfterId === null || leads.length >= page.limit) return { leads, nextAfterId, nextUpdatedAt };
    part = { ...page, afterId: nextAfterId, afterUpdatedAt: nextUpdatedAt };
  }
}

export const leadRoutes: readonly Route[] = [
  route({
    id: "listLeads",
    method: "GET",
    path: "/api/leads",
    tag: "Conversations",
    summary: "List contacts that visitors have left, as JSON or CSV",
    access: "conversations:read",
    query: {
      companionId: uuidQuery("companion_id", () => idParam("companion")),
      range: rangeQuery,
      page: movingPageQuery,
    },
    document: () => ({
      description:
        "By the time of consent, the newest first; of a conversation the newest contact. With `Accept: text/csv` the " +
        `response is a file for spreadsheets, with up to ${maxCsvRows} rows unless \`limit\` says otherwise; \`Link\` leads to ` +
        "the next ones. What a spreadsheet would run as a formula has an apostrophe in front.",
      responses: {
        200: {
          description: "A page of contacts.",
          content: { "application/json": listOf(LeadObject, "LeadList"), "text/csv": null },
          headers: ["Content-Disposition", "Link"],
        },
      },
    }),
    async handle({ services, principal, request, set, query: { companionId, range, page } }) {
      const isCsv = prefers(request.headers.get("accept"), "text/csv", "application/json");
      const url = new URL(request.url);
      const limit = isCsv && !url.searchParams.has("limit") ? maxCsvRows : page.limit;
      const wanted = { companionId, ...range };
      const read = await readLeads(services, principal.account.id, wanted, { ...page, limit });
      const { leads, nextAfterId, nextUpdatedAt } = read;
      varyBy(set.headers, "Accept");
      if (!isCsv) {
        const items = leads.map((lead) => ({ ...lead, id: lead.conversation_id }));
        const toCursor = ({ id, consented_at }: (typeof items)[number]) => ({
          id,
          updatedAt: Date.parse(consented_at),
        });
        return toWireList({ items, nextAfterId, nextUpdatedAt }, ({ id: _, ...lead }) => lead, toCursor);
      }
      set.headers["content-type"] = "text/csv; charset=utf-8; header=present";
      set.headers["content-disposition"] = 'attachment; filename="leads.csv"';
      if (nextAfterId !== null) {
        url.searchParams.set("cursor", encodeCursor({ id: nextAfterId, updatedAt: nextUpdatedAt }));
        set.headers["link"] = `<?${url.searchParams}>; rel="next"`;
      }
      const toLine = (cells: readonly (string | null)[]) => `${cells.map((cell) => toCell(cell ?? "")).join(",")}\r\n`;
      const lines = await writeRows(leads, (lead) => toLine(leadColumns.map((column) => lead[column])));
      return await respondInParts(request, set, [Buffer.from(toLine(leadColumns)), ...lines]);
    },
  }),
  route({
    id: "deleteLead",
    method: "DELETE",
    path: "/api/leads/{conversation_id}",
    tag: "Conversations",
    summary: "Delete a contact",
    access: "conversations:write",
    document: () => ({
      description: "Also mail to it that waits. The conversation stays.",
      params: { conversation_id: idParam("conversation") },
      responses: { 204: { description: "Deleted." } },
    }),
    async handle({ services: { store }, principal, params, writeContext }) {
      const id = readId(params.conversationId, "lead");
      const isDeleted = await store.feedback.deleteContact(principal.account.id, id, writeContext());
      if (!isDeleted) throw missing("lead");
    },
  }),
];
