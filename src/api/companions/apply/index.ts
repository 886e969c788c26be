/** `POST /api/apply`: companions as files have them, all or none. */
import type { WriteContext } from "../../../contracts/store/store.ts";
import type { Services } from "../../../core/dependencies.ts";
import { insufficientScope, type Principal } from "../../../domain/account.ts";
import { AppError } from "../../../domain/errors.ts";
import { jsonResponse } from "../../../http/api-description.ts";
import { decodeText, type JsonBody, parseJson, requireJsonContentType } from "../../../http/json-body.ts";
import { type Route, route } from "../../../http/route.ts";
import { digestInSlices, joinInSlices } from "../../../lib/byte-slices.ts";
import { pause } from "../../../lib/pause.ts";
import { requirePrices } from "../priced-companions.ts";
import { rulesOf } from "../service.ts";
import { applyBody, maxCompanions } from "./model.ts";
import type { Rules } from "./read-items.ts";
import { ApplyResult } from "./responses.ts";
import type { PreparedApply } from "./service.ts";
import { prepareApply } from "./service.ts";

/** Larger than other JSON, and so within the budget of memory for large bodies. */
const applyLimitBytes = 9 * 1024 * 1024;

export const applyBodyReader: JsonBody<unknown> = {
  checker: applyBody,
  limitBytes: applyLimitBytes,
  isOptional: false,
  // Companions are checked one by one.
  check: (sent) => sent,
  async take({ request, bodies, accountId }) {
    requireJsonContentType(request);
    if (Number(request.headers.get("content-length")) > applyLimitBytes) throw tooLarge();
    const { pieces, release } = await bodies.take(request, accountId);
    try {
      const bytes = await joinInSlices(pieces);
      if (bytes.length > applyLimitBytes) throw tooLarge();
      return { digest: () => digestInSlices([bytes]), parse: () => parse(bytes), release };
    } catch (error) {
      release();
      throw error;
    }
  },
};

/** Decoding, parsing and what is done with the value take many milliseconds each. */
async function parse(bytes: Uint8Array): Promise<unknown> {
  const text = decodeText(bytes);
  await pause();
  const value = parseJson(text);
  await pause();
  return value;
}

function tooLarge(): AppError {
  return new AppError("payload_too_large", `The request body is larger than ${applyLimitBytes / 1024 ** 2} MiB.`);
}

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

function makeRules(services: Services, principal: Pick<Principal, "account" | "keyId">): Rules {
  const { account, keyId } = principal;
  return {
    ...rulesOf(services, principal),
    findUrlFault: (url) => services.outgoing.findFault(url),
    requirePrices(companion, patch) {
      // A new one has no id yet, and so no budget of its own.
      const unmade = { id: "", accountId: account.id, createdByKeyId: keyId };
      return requirePrices(services, { ...unmade, ...companion }, patch);
    },
  };
}

async function applyPrepared(
  { people, toolbox, indexing }: Pick<Services, "people" | "toolbox" | "indexing">,
  { write, effects, note }: PreparedApply,
  context: WriteContext,
): Promise<void> {
  if (write === null) return;
  const { actorName = null, note: sentNote = null } = context.change ?? {};
  await write({ ...context, change: { via: "apply", note: note ?? sentNote, actorName } });
  for (const id of effects.toolIds) toolbox.forget(id);
  if (effects.hasQueued) indexing.wake();
  for (const companionId of effects.releasedIds) await people.releaseAll({ companionId });
}
