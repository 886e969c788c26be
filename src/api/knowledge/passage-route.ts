/** The passages of a source, to inspect what was read of it. */
import { Type as t } from "@sinclair/typebox";
import { missing, readId } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import type { QueryPart } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { SourcePassages, toWirePassage } from "./responses.ts";

const defaultLimit = 20;
const maxLimit = 100;

interface PassageRange {
  firstOrdinal: number;
  limit: number;
}

/** Not a cursor: previews jump to a position, and an edition never changes. */
const rangeQuery: QueryPart<PassageRange> = {
  parameters: {
    first: () => t.Integer({ minimum: 0, default: 0, description: "The first passage of the page, from 0." }),
    limit: () =>
      t.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: "Passages on a page." }),
  },
  read: (query) => ({
    firstOrdinal: query.value("first", parseOrdinal, "Must be a whole number from 0.") ?? 0,
    limit: query.count("limit", maxLimit) ?? defaultLimit,
  }),
};

function parseOrdinal(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

export const passageRoute: Route = route({
  id: "listSourcePassages",
  method: "GET",
  path: "/api/companions/{id}/sources/{source_id}/passages",
  tag: "Knowledge",
  summary: "List a source's passages",
  access: "knowledge:read",
  query: { range: rangeQuery },
  document: () => ({
    description: "What answers now, as it was cut; none before the source was first read.",
    responses: { 200: jsonResponse("A page of passages.", SourcePassages) },
  }),
  async handle({ services, principal, params, query: { range } }) {
    const companionId = readId(params.id, "companion");
    const id = readId(params.sourceId, "source");
    // One more shows that more follow.
    const asked = { ...range, limit: range.limit + 1 };
    const passages = await services.store.knowledge.listPassages(principal.account.id, companionId, id, asked);
    if (passages === null) throw missing("source");
    return {
      data: passages.slice(0, range.limit).map(toWirePassage),
      next_first: passages[range.limit]?.ordinal ?? null,
    };
  },
});
