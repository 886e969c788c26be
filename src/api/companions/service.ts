/** What an account can do with its companions and their embed tokens; everything is found within the account. */

import { toMadeCompanion } from "../../contracts/store/companions.ts";
import type { NewCompanion, Revision, WriteContext } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { PricedServices } from "../../core/turns/unpriced.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion, EmbedToken } from "../../domain/companion.ts";
import { makeEmbedToken } from "../../domain/credentials.ts";
import { missing, readId } from "../../domain/errors.ts";
import type { ChangeVia } from "../../domain/version.ts";
import type { NewEmbedTokenBody } from "./model.ts";
import { requirePrices } from "./priced-companions.ts";
import {
  mergeMetadata,
  readCompanionPatch,
  readMergePatch,
  readNewCompanion,
  type SettingRules,
} from "./read-settings.ts";

export type CompanionServices = PricedServices &
  Pick<Services, "store" | "ids" | "people" | "sealing" | "outgoing" | "toolbox">;

export function rulesOf(
  { settings, store }: Pick<CompanionServices, "settings" | "store">,
  { account }: Pick<Principal, "account">,
): SettingRules {
  const dailyMessages = settings.dailyMessages[account.plan];
  return { ...settings.llm, dailyMessages, voice: store.voice, accountId: account.id };
}

/** Throws `not_found`. */
export async function getCompanion(
  { store }: Pick<Services, "store">,
  principal: Principal,
  id: string,
): Promise<Companion> {
  const companion = await store.companions.find(principal.account.id, readId(id, "companion"));
  if (companion === null) throw missing("companion");
  return companion;
}

/** What is about to be created, in its final form; `write` commits it. */
export interface Prepared<Made> {
  made: Made;
  write(context: WriteContext): Promise<unknown>;
}

/** A companion to create, with its ids; throws `invalid_request` with every field at fault. */
export async function prepareNewCompanion(
  services: CompanionServices,
  principal: Principal,
  body: unknown,
): Promise<NewCompanion> {
  const { ids } = services;
  const settings = await readNewCompanion(body, rulesOf(services, principal));
  const made = { ...settings, id: ids.uuid(), createdByKeyId: principal.keyId };
  await requirePrices(services, { ...made, accountId: principal.account.id }, settings);
  return { ...made, embedToken: { id: ids.uuid(), token: makeEmbedToken(ids.secret) } };
}

export async function prepareCompanion(
  services: CompanionServices,
  principal: Principal,
  body: unknown,
  nowMs: number,
): Promise<Prepared<Companion>> {
  const accountId = principal.account.id;
  const companion = await prepareNewCompanion(services, principal, body);
  return {
    made: toMadeCompanion(accountId, companion, nowMs),
    write: (context) => services.store.companions.create(accountId, companion, context),
  };
}

export interface CompanionChange {
  /** As sent; checked here. */
  body: unknown;
  /** Whether `metadata` is merged (RFC 7396), not replaced. */
  isMerge: boolean;
  /** Throws if the companion, at the moment of the change, is not what the client takes it for. */
  check: ((companion: Companion) => void) | undefined;
}

export async function updateCompanion(
  services: CompanionServices,
  principal: Principal,
  current: Companion,
  { body, isMerge, check }: CompanionChange,
  context: WriteContext,
): Promise<Companion> {
  const rules = rulesOf(services, principal);
  const { patch, metadata } = isMerge
    ? await readMergePatch(body, rules, current)
    : { patch: await readCompanionPatch(body, rules, current), metadata: null };
  const revise: Revision = (now) => {
    check?.(now);
    return metadata === null ? patch : { ...patch, metadata: mergeMetadata(now.metadata, metadata) };
  };
  // Without a change, neither `updated_at` nor the audit log changes.
  if (Object.keys(patch).length === 0 && metadata === null) return current;
  const whole = metadata === null ? patch : { ...patch, metadata: mergeMetadata(current.metadata, metadata) };
  await requirePrices(services, { ...current, ...whole }, whole);
  const isPlain = check === undefined && metadata === null;
  const change = isPlain ? patch : revise;
  const updated = await services.store.companions.update(principal.account.id, current.id, change, context);
  if (updated === null) throw missing("companion");
  await releasePeople(services, current, updated);
  return updated;
}

/** What a change came through, where that is not what its caller is. */
export function via(through: ChangeVia, context: WriteContext): WriteContext {
  return { ...context, change: { note: null, actorName: null, ...context.change, via: through } };
}

/** Once people may no longer step in, they have no conversation of the companion. */
export async function releasePeople({ people }: CompanionServices, before: Companion, after: Companion): Promise<void> {
  if (before.handoff !== null && after.handoff === null) await people.releaseAll({ companionId: after.id });
}

/** `makeCheck` is called once there is such a companion, and may throw. */
export async function deleteCompanion(
  services: CompanionServices,
  principal: Principal,
  id: string,
  context: WriteContext,
  makeCheck: () => CompanionChange["check"],
): Promise<void> {
  const companion = await getCompanion(services, principal, id);
  const isDeleted = await services.store.companions.delete(principal.account.id, companion.id, context, makeCheck());
  if (!isDeleted) throw missing("companion");
}

/** Valid tokens, newest first. */
export async function listEmbedTokens(
  services: CompanionServices,
  principal: Principal,
  companionId: string,
): Promise<EmbedToken[]> {
  const id = readId(companionId, "companion");
  const oldestFirst = await services.store.embedTokens.list(principal.account.id, id);
  if (oldestFirst === null) throw missing("companion");
  return oldestFirst.reverse();
}

export function prepareEmbedToken(
  { store, ids }: CompanionServices,
  { accountId, id: companionId }: Companion,
  { name = null }: NewEmbedTokenBody,
  nowMs: number,
): Prepared<EmbedToken> {
  const token = { id: ids.uuid(), token: makeEmbedToken(ids.secret), name };
  return {
    made: { ...token, companionId, createdAt: nowMs, lastUsedAt: null },
    async write(context) {
      const made = await store.embedTokens.create(accountId, companionId, token, context);
      if (made === null) throw missing("companion");
    },
  };
}

/** Takes effect immediately: the next embed request with the token gets 404. */
export async function revokeEmbedToken(
  { store }: CompanionServices,
  principal: Principal,
  companionId: string,
  tokenId: string,
  context: WriteContext,
): Promise<void> {
  const noun = "embed token";
  const [companion, token] = [readId(companionId, noun), readId(tokenId, noun)];
  const isRevoked = await store.embedTokens.revoke(principal.account.id, companion, token, context);
  if (!isRevoked) throw missing(noun);
}
