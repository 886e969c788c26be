/** Versions of companions as rows: what stands in the row itself, and what in texts that versions share. */
import { newCompanionSettings } from "../../../domain/companion.ts";
import { toolSettingsOf } from "../../../domain/tool.ts";
import type {
  CompanionVersion,
  ToolSettings,
  VersionFacts,
  VersionSettings,
  VersionSource,
} from "../../../domain/version.ts";
import { toSnakeCase } from "../../../lib/field-names.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import type { CompanionState } from "../scripts/companion-states.ts";

/** Columns of hashes: what may be long, and is often the same in the next version. */
export const textFields = ["systemPrompt", "greeting", "metadata", "tools", "sources"] as const;
export const textColumns = textFields.map(toSnakeCase);
const isText = (field: string) => (textFields as readonly string[]).includes(field);
type Texts = Record<(typeof textFields)[number], string | null>;

export type StoredText = { hash: string; text: string; bytes: number };

/** A state as a version keeps it. */
export interface VersionContent {
  /** As JSON: what is set, without what is in the texts. */
  settings: string;
  texts: Texts;
}

export function toContent({ companion, tools, sources }: CompanionState): VersionContent {
  const { systemPrompt, greeting, metadata } = companion;
  const written = fields.filter((field) => !isText(field) && !Bun.deepEquals(companion[field], unset[field]));
  const named = tools.map(toolSettingsOf);
  const listed = sources.map(({ id, title, contentHash }): VersionSource => ({ id, title, contentHash }));
  const texts = {
    ...{ systemPrompt, greeting, metadata: orNothing(metadata) },
    ...{ tools: orNothing(named), sources: orNothing(listed) },
  };
  return { settings: JSON.stringify(Object.fromEntries(written.map((field) => [field, companion[field]]))), texts };
}

const { slug: _, ...unset } = newCompanionSettings("");
const fields = Object.keys(unset) as (keyof VersionSettings)[];

const orNothing = (value: object): string | null => (Object.keys(value).length === 0 ? null : JSON.stringify(value));

export function toStoredTexts({ texts }: VersionContent): Map<keyof Texts, StoredText> {
  const stored = new Map<keyof Texts, StoredText>();
  for (const field of textFields) {
    const text = texts[field];
    if (text !== null) stored.set(field, { hash: sha256Hex(text), text, bytes: Buffer.byteLength(text) });
  }
  return stored;
}

/** The wire names of what differs in what versions keep, but for what sources hold. */
export function listChanged(before: CompanionState, after: CompanionState): string[] {
  const changed: string[] = fields.filter((field) => differ(before.companion[field], after.companion[field]));
  if (differ(before.tools, after.tools, (tools) => tools.map(toolSettingsOf))) changed.push("tools");
  const toList = (sources: CompanionState["sources"]) => sources.map(({ id, title }) => [id, title]);
  if (differ(before.sources, after.sources, toList)) changed.push("sources");
  return changed.map(toSnakeCase);
}

/** As they are stored: the order of members counts. */
function differ<Value>(before: Value, after: Value, shown: (value: Value) => unknown = (value) => value): boolean {
  if (before === after) return false;
  // Prompts are long.
  if (typeof before === "string" && typeof after === "string") return true;
  return JSON.stringify(shown(before)) !== JSON.stringify(shown(after));
}

export type VersionRow = Omit<VersionFacts, "actor" | "changed"> & {
  actorType: "key" | "session" | "cli" | null;
  actorId: string | null;
  actorName: string | null;
  /** JSON. */
  changed: string;
};

export function toFacts({ actorType: type, actorId: id, actorName: name, changed, ...row }: VersionRow): VersionFacts {
  const { number, createdAt, via, note } = row;
  const actor = type === null ? null : { type, id, name };
  return { number, createdAt, actor, via, note, changed: JSON.parse(changed) as string[] };
}

export type ContentRow = Texts & { settings: string };

/** The texts themselves stand instead of their hashes. */
export function fromContent(row: ContentRow): Pick<CompanionVersion, "settings" | "tools" | "sources"> {
  const { systemPrompt, greeting } = row;
  const metadata = JSON.parse(row.metadata ?? "{}") as VersionSettings["metadata"];
  const settings = { ...unset, ...JSON.parse(row.settings), systemPrompt, greeting, metadata } as VersionSettings;
  const tools = JSON.parse(row.tools ?? "[]") as ToolSettings[];
  return { settings, tools, sources: JSON.parse(row.sources ?? "[]") as VersionSource[] };
}
