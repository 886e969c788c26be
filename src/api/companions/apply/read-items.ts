/** Checks what was sent to be applied, with every fault in one answer, and makes of it what a plan is made from. */
import type { Services } from "../../../core/dependencies.ts";
import { type Companion, type CompanionSettings, newCompanionSettings } from "../../../domain/companion.ts";
import { AppError, type FieldError, invalidFields } from "../../../domain/errors.ts";
import { isJsonObject } from "../../../domain/json.ts";
import type { Source } from "../../../domain/knowledge.ts";
import { listMetadataValues } from "../../../domain/metadata.ts";
import { builtInPrefix, type Tool, type ToolTarget } from "../../../domain/tool.ts";
import { pickSound } from "../../../http/schemas/named-object.ts";
import { maxListedErrors } from "../../../http/schemas/schema.ts";
import { findKind } from "../../../http/schemas/tool-changes.ts";
import { findFaults } from "../../../http/schemas/tool-faults.ts";
import { Slices } from "../../../lib/pause.ts";
import { companionFields } from "../fields.ts";
import { listSettingErrors, type SettingRules, toSettings } from "../read-settings.ts";
import { type AppliedCompanion, type AppliedSource, type AppliedTool, appliedCompanion } from "./model.ts";

export interface ToolItem {
  readonly body: AppliedTool;
  readonly kind: ToolTarget["type"];
}

/** A companion as it was sent, checked. */
export interface Item {
  readonly slug: string;
  readonly adopt: string | null;
  /** The names on the wire that were sent, in the order of responses. */
  readonly named: readonly (keyof AppliedCompanion & string)[];
  /** Of those. */
  readonly patch: Partial<CompanionSettings>;
  readonly tools: readonly ToolItem[] | null;
  readonly sources: readonly AppliedSource[] | null;
}

/** What an item is judged by, as it is on the server; null for one that is to be created. */
export interface Existing {
  readonly companion: Companion;
  readonly tools: readonly Tool[];
  readonly sources: readonly Source[];
}

export interface Rules extends SettingRules {
  findUrlFault: Services["outgoing"]["findFault"];
  /** Throws `invalid_request` for what must have a price, and has none. */
  requirePrices(companion: Companion | CompanionSettings, patch: Partial<CompanionSettings>): Promise<void>;
}

const secretsElsewhere =
  "Secrets never stand in files: they stay what they are on the server, and a new tool's comes by rotate-secret.";
/** Of a set: each is a row of an index, written in one transaction. */
const maxMetadataValues = 20_000;
const contents = ["text", "url", "sitemap", "file_hash", "content_hash"] as const;

/** Faults of the form alone, which need no server. Params are `companions[0].name`. */
export function listFormFaults(companions: readonly unknown[]): FieldError[] {
  return companions.flatMap((entry, at) => {
    const errors = appliedCompanion.listErrors(entry).map(explainSecret);
    return inEntry(at, [...errors, ...listRuleFaults(pickSound(entry, errors))]);
  });
}

/** `findExisting`: by slug, or by the id of `adopt`. Throws `invalid_request`, naming each field at fault. */
export async function readItems(
  companions: readonly unknown[],
  findExisting: (item: Pick<AppliedCompanion, "slug" | "adopt">) => Existing | null,
  rules: Rules,
): Promise<Item[]> {
  const errors: FieldError[] = [];
  const items: Item[] = [];
  const [slugs, adopted] = [new Set<string>(), new Set<string>()];
  let metadataValues = 0;
  const slices = new Slices();
  for (const [at, entry] of companions.entries()) {
    const found = await readItem(entry, findExisting, rules);
    const slug = slugOf(entry);
    if (slug !== null && slugs.has(slug))
      found.errors.push({ param: "slug", detail: "Is that of another entry, too." });
    if (slug !== null) slugs.add(slug);
    if (found.item !== null) items.push(found.item);
    const adopt = found.item?.adopt ?? null;
    if (adopt !== null && adopted.has(adopt))
      found.errors.push({ param: "adopt", detail: "Is that of another entry, too." });
    if (adopt !== null) adopted.add(adopt);
    metadataValues += listMetadataValues(found.item?.patch.metadata ?? {}).length;
    errors.push(...inEntry(at, found.errors));
    if (errors.length >= maxListedErrors) break;
    if (slices.isOver) await slices.pause();
  }
  if (metadataValues > maxMetadataValues) {
    const detail = `Has ${metadataValues} values of metadata in all, more than ${maxMetadataValues}: apply it in parts.`;
    errors.push({ param: "companions", detail });
  }
  if (errors.length > 0) throw invalidFields(errors.slice(0, maxListedErrors));
  return items;
}

function slugOf(entry: unknown): string | null {
  return isJsonObject(entry) && typeof entry["slug"] === "string" ? entry["slug"] : null;
}

async function readItem(
  entry: unknown,
  findExisting: (item: Pick<AppliedCompanion, "slug" | "adopt">) => Existing | null,
  rules: Rules,
): Promise<{ item: Item | null; errors: FieldError[] }> {
  if (!isJsonObject(entry)) return { item: null, errors: [{ param: "", detail: "Must be a JSON object." }] };
  const { slug, adopt } = entry;
  const names = { slug: String(slug), ...(typeof adopt === "string" ? { adopt: adopt.toLowerCase() } : {}) };
  const existing = findExisting(names);
  const current = existing?.companion ?? newCompanionSettings("");
  const errors = [...(await listSettingErrors(appliedCompanion, entry, rules, current))].map(explainSecret);
  const sent = pickSound<AppliedCompanion>(entry, errors);
  errors.push(...listRuleFaults(sent));
  if (existing === null && names.adopt !== undefined) {
    errors.push({ param: "adopt", detail: "There is no companion with this id." });
  } else if (existing === null && entry["name"] === undefined) {
    errors.push({ param: "name", detail: "This field is required: there is no companion with this slug yet." });
  }
  for (const [at, body] of (sent.tools ?? []).entries()) {
    const kept = existing?.tools.find(({ name }) => name === body.name);
    errors.push(...inList("tools", at, await listToolFaults(body, kept, rules)));
  }
  for (const [at, source] of (sent.sources ?? []).entries()) {
    const isThere = existing?.sources.some(({ slug }) => slug === source.slug) ?? false;
    if (source.content_hash === undefined || isThere) continue;
    const detail = "There is no source with this slug on the server: only there could its content be.";
    errors.push(...inList("sources", at, [{ param: "content_hash", detail }]));
  }
  if (errors.length > 0) return { item: null, errors };
  const checked = appliedCompanion.check(entry);
  const { named, patch } = readSettings(checked);
  errors.push(...(await listPriceFaults(rules, { ...current, ...patch }, patch)));
  const tools = checked.tools?.map((body) => ({ body, kind: findKind(body) ?? "http" })) ?? null;
  const item = {
    slug: checked.slug,
    adopt: names.adopt ?? null,
    named,
    patch,
    tools,
    sources: checked.sources ?? null,
  };
  return { item: errors.length === 0 ? item : null, errors };
}

type SoundPart = Partial<AppliedCompanion>;

function readSettings(sent: AppliedCompanion): Pick<Item, "named" | "patch"> {
  const known = companionFields().names.map(([wire]) => wire);
  // It joins both, and is set where a companion is made or adopted.
  const { slug: _, ...patch } = toSettings(sent);
  return { named: known.filter((wire) => sent[wire] !== undefined), patch };
}

/** What the schema of one entry cannot say. */
function listRuleFaults({ tools = [], sources = [] }: SoundPart): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, { name }] of tools.entries()) {
    if (tools.findIndex((other) => other.name === name) < at) {
      errors.push(...inList("tools", at, [{ param: "name", detail: "Is that of another tool of the list, too." }]));
    }
  }
  for (const [at, source] of sources.entries()) {
    const given = contents.filter((name) => source[name] !== undefined);
    const found: FieldError[] = [];
    if (given.length !== 1) found.push({ param: "", detail: `Must have one of ${contents.join(", ")}.` });
    if (source.refresh_hours != null && source.url === undefined && source.sitemap === undefined) {
      found.push({ param: "refresh_hours", detail: "Only for url and sitemap." });
    }
    if (sources.findIndex(({ slug }) => slug === source.slug) < at) {
      found.push({ param: "slug", detail: "Is that of another source of the list, too." });
    }
    errors.push(...inList("sources", at, found));
  }
  return errors;
}

async function listToolFaults(body: AppliedTool, kept: Tool | undefined, rules: Rules): Promise<FieldError[]> {
  const kind = findKind(body);
  if (kind === null) {
    return [{ param: "url", detail: body.url == null ? "Set either this or mcp_url." : "Not together with mcp_url." }];
  }
  // What is exported can be applied.
  const isBuiltIn = body.url?.startsWith(builtInPrefix) === true && kept?.target.url === body.url;
  const { url: _, ...others } = body;
  return await findFaults(isBuiltIn ? others : body, kind, rules.findUrlFault);
}

async function listPriceFaults(
  { requirePrices }: Rules,
  companion: Companion | CompanionSettings,
  patch: Partial<CompanionSettings>,
): Promise<readonly FieldError[]> {
  try {
    await requirePrices(companion, patch);
    return [];
  } catch (error) {
    if (error instanceof AppError && error.errors) return error.errors;
    throw error;
  }
}

function explainSecret(error: FieldError): FieldError {
  return /^tools\.\d+\.(headers|secret)\b/.test(error.param) ? { ...error, detail: secretsElsewhere } : error;
}

function inList(list: string, at: number, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ param, detail }) => ({ param: [`${list}.${at}`, param].filter(Boolean).join("."), detail }));
}

/** As callers write it: `companions[0].tools[1].name`. */
function inEntry(at: number, errors: readonly FieldError[]): FieldError[] {
  return errors.map(({ param, detail }) => {
    const path = param === "" ? "" : `.${param.replace(/\.(\d+)(?=\.|$)/g, "[$1]")}`;
    return { param: `companions[${at}]${path}`, detail };
  });
}
