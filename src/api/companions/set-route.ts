/** `GET /api/companions/{id}/set`: which files a companion comes from, and what of it is theirs. */
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { toNullableRfc3339 } from "../../lib/clock.ts";
import { getCompanion } from "./service.ts";
import { SetFactsObject } from "./version-responses.ts";

export const setRoute: Route = route({
  id: "getCompanionSet",
  method: "GET",
  path: "/api/companions/{id}/set",
  tag: "Versions",
  summary: "Read which files a companion comes from",
  access: "companions:read",
  document: () => ({ responses: { 200: jsonResponse("Its set.", SetFactsObject) } }),
  async handle({ services, principal, params }) {
    const { accountId, id } = await getCompanion(services, principal, params.id);
    const scope = { set: "", slugs: [], adoptIds: [id], isWholeSet: false };
    const { companions } = await services.store.companionSets.read(accountId, scope);
    const applied = companions[0]?.applied ?? null;
    return {
      set: applied?.set ?? null,
      fields: [
        ...Object.keys(applied?.fields ?? {}),
        ...Object.keys(applied?.tools ?? {}).map((name) => `tools.${name}`),
        ...Object.keys(applied?.sources ?? {}).map((name) => `sources.${name}`),
      ],
      applied_at: toNullableRfc3339(applied?.appliedAt ?? null),
    };
  },
});
