/** Makes a companion what it was in one of its versions: its fields and its tools, in one change. */
import type { ToolChange, WriteContext } from "../../contracts/store/store.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { AppError, type FieldError, invalidFields, missing } from "../../domain/errors.ts";
import { builtInPrefix, maxTools, sealedAs, type Tool } from "../../domain/tool.ts";
import type { CompanionVersion, ToolSettings, VersionSettings, VersionSource } from "../../domain/version.ts";
import { findFaults } from "../../http/schemas/tool-faults.ts";
import { toWireToolSettings } from "../../http/schemas/tool-settings.ts";
import { makeWebhookSecret } from "../../lib/standard-webhooks.ts";
import { requirePrices } from "./priced-companions.ts";
import { readCompanionPatch } from "./read-settings.ts";
import { type CompanionServices, getCompanion, releasePeople, rulesOf, via } from "./service.ts";
import { isSame, pickChanged, toWirePatch } from "./version-changes.ts";

export interface Restored {
  readonly companion: Companion;
  /** Of the version, and not of the companion any more. */
  readonly missingSources: readonly VersionSource[];
  /** With what they were in the version. */
  readonly newTools: readonly { readonly id: string; readonly settings: ToolSettings }[];
}

/** Throws `not_found`. */
export async function getVersion(
  { store }: Pick<CompanionServices, "store">,
  companion: Companion,
  number: string,
): Promise<CompanionVersion> {
  const isNumber = /^[1-9][0-9]{0,8}$/.test(number);
  const version = isNumber ? await store.versions.find(companion.accountId, companion.id, Number(number)) : null;
  if (version === null) throw missing("version");
  return version;
}

export async function listTools({ store }: Pick<CompanionServices, "store">, { accountId, id }: Companion) {
  return (await store.tools.list(accountId, id, { limit: maxTools, afterId: null }))?.items ?? [];
}

/** Throws `invalid_request` with what a change would refuse today, and what `check` throws. */
export async function restoreVersion(
  services: CompanionServices,
  principal: Principal,
  { id, number, check }: { id: string; number: string; check: ((companion: Companion) => void) | undefined },
  context: WriteContext,
): Promise<Restored> {
  const current = await getCompanion(services, principal, id);
  check?.(current);
  const version = await getVersion(services, current, number);
  const { accountId } = current;
  const patch = pickRestored(current, version);
  await readCompanionPatch(toWirePatch(current, patch), rulesOf(services, principal), current);
  await requirePrices(services, { ...current, ...patch }, patch);
  const tools = await listTools(services, current);
  const plan = planTools(tools, version.tools);
  await checkTools(services, plan, tools);
  const made = await Promise.all(
    plan.creates.map((settings) => makeTool(services, current.id, settings, context.nowMs)),
  );
  const restored = await services.store.versions.restore(
    ...([accountId, current.id] as const),
    (now) => {
      check?.(now.companion);
      const { creates, updates, deletes } = planTools(now.tools, version.tools);
      if (!isSame(creates, plan.creates))
        throw new AppError("conflict", "The tools were changed meanwhile. Try again.");
      return {
        patch: pickRestored(now.companion, version),
        toolCreates: made,
        toolUpdates: updates,
        toolDeletes: deletes,
      };
    },
    via("restore", context),
  );
  if (restored === null) throw missing("companion");
  for (const tool of tools) services.toolbox.forget(tool.id);
  const { companion } = restored;
  await releasePeople(services, current, companion);
  const after = await services.store.versions.find(accountId, companion.id, companion.version);
  const has = new Set(after?.sources.map((source) => source.id));
  return {
    companion,
    missingSources: version.sources.filter((source) => !has.has(source.id)),
    newTools: made.flatMap((tool, index) => {
      const settings = plan.creates[index];
      return settings === undefined ? [] : { id: tool.id, settings };
    }),
  };
}

/** Whether visitors may use it at the moment is no part of what it was. */
function pickRestored(current: Companion, { settings }: CompanionVersion): Partial<VersionSettings> {
  return pickChanged(current, { ...settings, enabled: current.enabled });
}

interface ToolPlan {
  readonly creates: readonly ToolSettings[];
  readonly updates: readonly { readonly id: string; readonly change: ToolChange }[];
  readonly deletes: readonly string[];
}

/** Joined by name, a URL and an MCP server being two tools. */
export function joinTools(now: readonly Tool[], wanted: readonly ToolSettings[]) {
  const nameOf = ({ name, target }: Pick<Tool, "name" | "target">) => `${target.type} ${name}`;
  const byName = new Map(now.map((tool) => [nameOf(tool), tool]));
  const joined = wanted.flatMap((settings) => {
    const tool = byName.get(nameOf(settings));
    return tool === undefined ? [] : { tool, settings };
  });
  const kept = new Set(joined.map(({ tool }) => tool));
  return {
    joined,
    gone: wanted.filter((settings) => !byName.has(nameOf(settings))),
    surplus: now.filter((tool) => !kept.has(tool)),
  };
}

/** Headers stay what they are: only their names are in a version. */
function planTools(now: readonly Tool[], wanted: readonly ToolSettings[]): ToolPlan {
  const { joined, gone, surplus } = joinTools(now, wanted);
  const changed = joined.map(({ tool, settings }) => ({ id: tool.id, change: changeOf(tool, settings) }));
  return {
    creates: gone,
    updates: changed.filter(({ change }) => Object.keys(change).length > 0),
    deletes: surplus.map(({ id }) => id),
  };
}

function changeOf(tool: Tool, { title, target, timeoutMs, confirm, requiresVisitor }: ToolSettings): ToolChange {
  const wanted = { title, target, timeoutMs, confirm, requiresVisitor };
  const changed = Object.entries(wanted).filter(([field, value]) => !isSame(tool[field as keyof typeof wanted], value));
  return Object.fromEntries(changed);
}

/** What a change of a tool would refuse today. Throws `invalid_request` with all of it. */
async function checkTools(
  { outgoing }: CompanionServices,
  { creates, updates }: ToolPlan,
  now: readonly Tool[],
): Promise<void> {
  const changed = updates.flatMap(({ id, change }) => {
    const tool = now.find((one) => one.id === id);
    return tool === undefined ? [] : { ...tool, ...change };
  });
  const faults: FieldError[] = [];
  for (const tool of [...creates, ...changed]) {
    const { url, tools, ...others } = toWireToolSettings(tool);
    const settings = { ...others, tools: tools && [...tools] };
    // No one enters the URL of one that the server answers itself.
    const sent = tool.target.url.startsWith(builtInPrefix) ? settings : { ...settings, url };
    const found = await findFaults(sent, tool.target.type, (address) => outgoing.findFault(address));
    faults.push(...found.map(({ param, detail }) => ({ param: `tools.${tool.name}.${param}`, detail })));
  }
  if (faults.length > 0) throw invalidFields(faults);
}

/** With a new secret, and none of its headers. */
async function makeTool(
  { ids, sealing }: CompanionServices,
  companionId: string,
  { headerNames: _, ...settings }: ToolSettings,
  nowMs: number,
): Promise<Tool> {
  const id = ids.uuid();
  const isBuiltIn = settings.target.url.startsWith(builtInPrefix);
  const sealedSecret = isBuiltIn ? "" : await sealing.seal(sealedAs.secret(id), makeWebhookSecret(ids.bytes));
  const none = { sealedHeaders: null, headerNames: [], sealedSecret };
  return { ...settings, ...none, id, companionId, createdAt: nowMs, updatedAt: nowMs };
}
