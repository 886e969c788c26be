/** A companion on the server beside what was sent of it, as the units that a plan compares. */
import type { SetMember } from "../../../contracts/store/store.ts";
import type { Unit } from "../../../core/companion-sets/differences.ts";
import { type CompanionSettings, newCompanionSettings } from "../../../domain/companion.ts";
import type { JsonObject, JsonValue } from "../../../domain/json.ts";
import type { Source, SourceType } from "../../../domain/knowledge.ts";
import type { Tool } from "../../../domain/tool.ts";
import type { AppliedRecord } from "../../../domain/version.ts";
import { toTitle } from "../../../http/schemas/source-fields.ts";
import { listToolChanges, toToolSettings } from "../../../http/schemas/tool-changes.ts";
import { toWireToolSettings } from "../../../http/schemas/tool-settings.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { toWireSettings } from "../fields.ts";
import type { AppliedSource } from "./model.ts";
import type { Item, ToolItem } from "./read-items.ts";

export interface ToolUnit extends Unit {
  readonly item: ToolItem | null;
  readonly tool: Tool | null;
}

export interface SourceUnit extends Unit {
  readonly item: AppliedSource | null;
  readonly source: Source | null;
}

export interface Units {
  readonly fields: readonly Unit[];
  readonly tools: readonly ToolUnit[];
  readonly sources: readonly SourceUnit[];
}

/** `current`: null for a companion that is to be created. */
export function toUnits(item: Item, current: SetMember | null): Units {
  const record = current?.applied ?? null;
  return {
    fields: toFieldUnits(item, current, record),
    tools: item.tools === null ? [] : toToolUnits(item.tools, current?.tools ?? [], record),
    sources: item.sources === null ? [] : toSourceUnits(item.sources, current?.sources ?? [], record),
  };
}

export function toWireValues(settings: CompanionSettings): Readonly<Record<string, JsonValue>> {
  return toWireSettings(settings) as unknown as Record<string, JsonValue>;
}

function toFieldUnits({ named, patch }: Item, current: SetMember | null, record: AppliedRecord | null): Unit[] {
  const now = current === null ? null : toWireValues(current.companion);
  const wanted = toWireValues({ ...(current?.companion ?? newCompanionSettings("")), ...patch });
  return named.map((field) => {
    return { field, wanted: wanted[field], now: now?.[field], applied: record?.fields[field], wasListed: false };
  });
}

function toToolUnits(items: readonly ToolItem[], tools: readonly Tool[], record: AppliedRecord | null): ToolUnit[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const names = new Set([...items.map(({ body }) => body.name), ...byName.keys()]);
  return [...names].map((name) => {
    const item = items.find(({ body }) => body.name === name) ?? null;
    const tool = byName.get(name) ?? null;
    return {
      ...{ field: `tools.${name}`, item, tool, wasListed: record?.tools != null },
      wanted: item === null ? undefined : wantedOf(item, tool),
      now: tool === null ? undefined : toWireToolSettings(tool),
      applied: record?.tools?.[name],
    };
  });
}

/** What the file names of the tool, as it would be read. */
function wantedOf({ body, kind }: ToolItem, tool: Tool | null): JsonObject {
  const isKept = tool !== null && tool.target.type === kind;
  const made = isKept ? { ...tool, ...listToolChanges(tool, body) } : toToolSettings(body, kind);
  const wire: JsonObject = toWireToolSettings(made);
  return Object.fromEntries(Object.entries(wire).filter(([name]) => Object.hasOwn(body, name)));
}

function toSourceUnits(
  items: readonly AppliedSource[],
  sources: readonly Source[],
  record: AppliedRecord | null,
): SourceUnit[] {
  const bySlug = new Map(sources.flatMap((source) => (source.slug === null ? [] : [[source.slug, source] as const])));
  const slugs = new Set([...items.map(({ slug }) => slug), ...bySlug.keys()]);
  return [...slugs].map((slug) => {
    const item = items.find((one) => one.slug === slug) ?? null;
    const source = bySlug.get(slug) ?? null;
    return {
      ...{ field: `sources.${slug}`, item, source, wasListed: record?.sources != null },
      wanted: item === null ? undefined : toWantedSource(item),
      now: source === null ? undefined : toSourceValues(source),
      applied: record?.sources?.[slug],
    };
  });
}

/** As plans show a source: of contents the hash alone. */
function toSourceValues({ type, title, url, refreshHours, uploadHash }: Source): JsonObject {
  if (type === "url" || type === "sitemap") return { type, url, refresh_hours: refreshHours };
  return { type, title, [type === "text" ? "text_hash" : "file_hash"]: uploadHash };
}

/** Null for one that stays as it is there. */
export function typeOf(item: AppliedSource): SourceType | null {
  if (item.text !== undefined) return "text";
  if (item.file_hash !== undefined) return "file";
  if (item.url !== undefined) return "url";
  return item.sitemap === undefined ? null : "sitemap";
}

function toWantedSource(item: AppliedSource): JsonObject {
  const type = typeOf(item);
  if (type === null) return {};
  if (type === "url" || type === "sitemap") {
    const { refresh_hours: hours } = item;
    return { type, url: item.url ?? item.sitemap ?? null, ...(hours === undefined ? {} : { refresh_hours: hours }) };
  }
  const title = item.title === undefined ? {} : { title: titleOf(item) };
  const hash = type === "text" ? { text_hash: sha256Hex(item.text ?? "") } : { file_hash: item.file_hash ?? null };
  return { type, ...title, ...hash };
}

export function titleOf({ slug, title, url, sitemap }: AppliedSource): string {
  return toTitle(title ?? url ?? sitemap ?? slug);
}
