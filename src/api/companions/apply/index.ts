/** `POST /api/apply`: companions as files have them, all or none. */
import { insufficientScope, type Principal } from "../../../domain/account.ts";
import { jsonResponse } from "../../../http/api-description.ts";
import { type Route, route } from "../../../http/route.ts";
import { applyPrepared, makeRules } from "./apply.ts";
import { applyBodyReader } from "./body.ts";
import { maxCompanions } from "./model.ts";
import { ApplyResult } from "./responses.ts";
import { prepareApply } from "./service.ts";

export const applyRoute: Route = route({
  id: "applyCompanions",
  method: "POST",
  path: "/api/apply",
  tag: "Companions",
  summary: "Apply companions from files",
  access: "companions:write",
  body: applyBodyReader,
  isIdempotent: true,
  status: 200,
  document: () => ({
    description:
      `Up to ${maxCompanions} companions and 9 MiB in one transaction, joined with those of the account by \`slug\`; see ` +
      "[companions as code](/docs/guides/companions-as-code). Fields that are left out stay as they are. Where someone " +
      "else changed what is named since it was applied, the call is `conflict` with `drift`, unless `overwrite` is sent; " +
      "a slug of another set and too many to prune are `conflict` as well. Applied again, everything is `unchanged`. " +
      "Also needs `knowledge:write` if `sources` are named.",
    bodyExample: {
      companions: [
        {
          slug: "support",
          name: "Ada",
          system_prompt: "You help customers of a bicycle shop.",
          sources: [{ slug: "returns", title: "Returns", text: "You may return what you bought within 30 days." }],
        },
      ],
      note: "Opening hours",
    },
    responses: { 200: jsonResponse("What changes, or would change.", ApplyResult) },
    errors: ["limit_reached", "conflict", "rate_limited"],
  }),
  async handle({ services, principal, createOnce }) {
    const { account, keyId } = principal;
    return await createOnce(async (body, { nowMs }) => {
      requireKnowledge(principal, body);
      const applier = { account, keyId, rules: makeRules(services, principal) };
      const prepared = await prepareApply(services, applier, body, nowMs);
      return { response: prepared.result, write: (context) => applyPrepared(services, prepared, context) };
    });
  },
});

function requireKnowledge(principal: Principal & { readonly scopes: readonly string[] }, body: unknown): void {
  const { companions } = (body ?? {}) as { companions?: unknown };
  if (!Array.isArray(companions) || principal.scopes.includes("knowledge:write")) return;
  const namesSources = companions.some((one: { sources?: unknown } | null) => one?.sources !== undefined);
  if (namesSources) throw insufficientScope(["knowledge:write"], principal);
}
