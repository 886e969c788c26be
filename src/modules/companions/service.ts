/** What an account does with its companions and their embed tokens; everything is reached through the account. */

import type { Services } from "../../dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion, EmbedToken } from "../../domain/companion.ts";
import { makeEmbedToken } from "../../domain/credentials.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { omitFields } from "../../lib/omit-fields.ts";
import type { WriteContext } from "../../store/store.ts";
import { newEmbedTokenBody, readOnlyEmbedTokenFields } from "./model.ts";
import { readCompanionPatch, readNewCompanion, type SettingRules } from "./read-settings.ts";

type CompanionServices = Pick<Services, "store" | "settings" | "voice" | "ids">;

function rulesOf({ settings, voice }: CompanionServices, accountId: string): SettingRules {
  return {
    models: settings.llm.models,
    maxOutputTokens: settings.llm.maxOutputTokens,
    checkVoiceFields: (fields, currentAgentId) => voice.checkVoiceFields(accountId, fields, currentAgentId),
  };
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

export async function createCompanion(
  services: CompanionServices,
  principal: Principal,
  body: unknown,
  context: WriteContext,
): Promise<Companion> {
  const { store, ids } = services;
  const settings = await readNewCompanion(body, rulesOf(services, principal.account.id));
  const companion = {
    ...settings,
    id: ids.uuid(),
    createdByKeyId: principal.keyId,
    embedToken: { id: ids.uuid(), token: makeEmbedToken(ids.secret) },
  };
  return store.companions.create(principal.account.id, companion, context);
}

export async function updateCompanion(
  services: CompanionServices,
  principal: Principal,
  current: Companion,
  body: unknown,
  context: WriteContext,
): Promise<Companion> {
  const patch = await readCompanionPatch(body, rulesOf(services, principal.account.id), current);
  // Nothing to change is no change: neither `updated_at` nor the audit trail moves.
  if (Object.keys(patch).length === 0) return current;
  const updated = await services.store.companions.update(principal.account.id, current.id, patch, context);
  if (updated === null) throw missing("companion");
  return updated;
}

export async function deleteCompanion(
  { store }: CompanionServices,
  principal: Principal,
  id: string,
  context: WriteContext,
): Promise<void> {
  const isDeleted = await store.companions.delete(principal.account.id, readId(id, "companion"), context);
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

export async function createEmbedToken(
  { store, ids }: CompanionServices,
  companion: Companion,
  body: unknown,
  context: WriteContext,
): Promise<EmbedToken> {
  const { name = null } = newEmbedTokenBody.check(omitFields(body === undefined ? {} : body, readOnlyEmbedTokenFields));
  const token = { id: ids.uuid(), token: makeEmbedToken(ids.secret), name };
  const made = await store.embedTokens.create(companion.accountId, companion.id, token, context);
  if (made === null) throw missing("companion");
  return made;
}

/** At once: the next embed request with the token is 404. */
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
