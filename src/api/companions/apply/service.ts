/** Applies a set of companions from files: reads what is there, plans, and writes all of it in one transaction, or nothing. */
import type { SetState, WriteContext } from "../../../contracts/store/store.ts";
import type { Services } from "../../../core/dependencies.ts";
import type { Account } from "../../../domain/account.ts";
import { OutdatedError } from "../../../domain/errors.ts";
import { pause } from "../../../lib/pause.ts";
import { applyEnvelope, defaultPruneMax, defaultSet } from "./model.ts";
import { makePlan, type Plan, type PlanRequest } from "./plan.ts";
import { type Existing, type Item, type Rules, readItems } from "./read-items.ts";
import type { ApplyResult, PlanItem } from "./responses.ts";
import { MadeThings, toWrites } from "./writes.ts";

export interface Applier {
  readonly account: Pick<Account, "id">;
  /** The key that makes the companions; null for the dashboard and commands. */
  readonly keyId: string | null;
  readonly rules: Rules;
}

type ApplyServices = Pick<Services, "ids" | "sealing"> & {
  readonly store: Pick<Services["store"], "companionSets">;
};

export interface PreparedApply {
  readonly result: ApplyResult;
  readonly note: string | null;
  /** Whether sources are named: then more rights are needed. */
  readonly namesSources: boolean;
  /** Null where nothing is to be written. Rejects with `OutdatedError` if anything was changed since it was prepared. */
  readonly write: ((context: WriteContext) => Promise<void>) | null;
  /** What the write changes beyond the store. */
  readonly effects: ApplyEffects;
}

export interface ApplyEffects {
  /** Tools that were changed or deleted. */
  readonly toolIds: readonly string[];
  /** Companions that have no `handoff` any more. */
  readonly releasedIds: readonly string[];
  readonly hasQueued: boolean;
}

/** Throws `invalid_request` with every field at fault, and `conflict`: then nothing was written. */
export async function prepareApply(
  services: ApplyServices,
  applier: Applier,
  body: unknown,
  nowMs: number,
): Promise<PreparedApply> {
  const { companionSets } = services.store;
  const { account, keyId, rules } = applier;
  const sent = applyEnvelope.check(body);
  const { set, prune, ...options } = { set: sent.set ?? defaultSet, prune: sent.prune ?? "off", ...optionsOf(sent) };
  const entries = sent.companions.map((entry) => entry as Partial<Record<"slug" | "adopt", unknown>> | null);
  const scope = {
    ...{ set, isWholeSet: prune !== "off" },
    slugs: entries.flatMap((entry) => (typeof entry?.slug === "string" ? [entry.slug] : [])),
    adoptIds: entries.flatMap((entry) => (typeof entry?.adopt === "string" ? [entry.adopt.toLowerCase()] : [])),
  };
  // Of a set that is as large as sets may be, each step takes many milliseconds.
  const state = await companionSets.read(account.id, scope);
  await pause();
  const items = await readItems(sent.companions, finderIn(state), rules);
  await pause();
  const request = { ...options, items, set, prune };
  const plan = makePlan(state, request);
  await pause();
  const made = new MadeThings(services);
  const result = toResult(plan, request, made);
  const namesSources = items.some(({ sources }) => sources !== null);
  const isEmpty = plan.writes.length + plan.disables.length + plan.deletes.length === 0;
  const facts = { result, note: sent.note ?? null, namesSources, effects: findEffects(plan) };
  if (request.isDryRun || isEmpty) return { ...facts, write: null };
  await made.sealSecrets(plan);
  return {
    ...facts,
    async write(context) {
      await companionSets.apply(
        account.id,
        scope,
        (now) => {
          const again = makePlan(now, request);
          if (!Bun.deepEquals(toResult(again, request, made), result)) throw new OutdatedError();
          return toWrites(again, made, { keyId, nowMs, idempotent: context.idempotent ?? null });
        },
        context,
      );
    },
  };
}

function optionsOf(sent: { prune_max?: number | null; overwrite?: boolean | null; dry_run?: boolean | null }) {
  return {
    pruneMax: sent.prune_max ?? defaultPruneMax,
    overwrite: sent.overwrite ?? false,
    isDryRun: sent.dry_run ?? false,
  };
}

function finderIn({ companions }: SetState): (item: { slug: string; adopt?: string }) => Existing | null {
  const bySlug = new Map(companions.map((one) => [one.companion.slug, one]));
  const byId = new Map(companions.map((one) => [one.companion.id, one]));
  return ({ slug, adopt }) => bySlug.get(slug) ?? (adopt === undefined ? null : (byId.get(adopt) ?? null));
}

/** With the ids of what is created, unless it is not. */
function toResult({ plan }: Plan, { isDryRun }: PlanRequest, made: MadeThings): ApplyResult {
  const withId = (item: PlanItem): PlanItem => {
    return item.action === "create" && !isDryRun ? { ...item, id: made.id(item.slug) } : item;
  };
  return { plan: plan.map(withId), applied: !isDryRun };
}

function findEffects({ writes, deletes }: Plan): ApplyEffects {
  const tools = writes.flatMap(({ units, changed }) => units.tools.filter(({ field }) => changed.has(field)));
  const isReleased = (item: Item) => item.patch.handoff === null;
  return {
    toolIds: tools.flatMap(({ tool }) => (tool === null ? [] : [tool.id])),
    releasedIds: [
      ...writes.flatMap(({ item, current }) => (current !== null && isReleased(item) ? [current.companion.id] : [])),
      ...deletes.map(({ id }) => id),
    ],
    hasQueued: writes.some(({ units, changed }) => units.sources.some(({ field }) => changed.has(field))),
  };
}
