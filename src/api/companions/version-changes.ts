/** What is different between two states of a companion, by field, as people read it. */
import type { Companion } from "../../domain/companion.ts";
import type { CompanionVersion, ToolSettings, VersionSettings, VersionSource } from "../../domain/version.ts";
import { toWireToolSettings } from "../../http/schemas/tool-settings.ts";
import { companionFields, toWireSettings } from "./fields.ts";

export interface FieldChange {
  /** A field of the companion, `tools` or `sources`. */
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
}

export function listChanges(from: CompanionVersion, to: CompanionVersion): FieldChange[] {
  const after = toWireContent(to);
  return Object.entries(toWireContent(from)).flatMap(([field, value]) => {
    const change = { field, from: value, to: after[field] };
    return isSame(change.from, change.to) ? [] : change;
  });
}

/** Wire names, each with that of its setting. */
const listFields = () =>
  companionFields().names.filter((names): names is [(typeof names)[0], keyof VersionSettings] => names[1] !== "slug");

/** All settings that versions and drafts have. */
export function toWireWhole(settings: VersionSettings) {
  const whole = toWireSettings({ ...settings, slug: null });
  return Object.fromEntries(listFields().map(([wire]) => [wire, whole[wire]]));
}

/** The settings of `to` that `from` has not, as they are stored. */
export function pickChanged(from: VersionSettings, to: VersionSettings): Partial<VersionSettings> {
  const [before, after] = [toWireWhole(from), toWireWhole(to)];
  const changed = listFields().filter(([wire]) => !isSame(before[wire], after[wire]));
  return Object.fromEntries(changed.map(([, field]) => [field, to[field]]));
}

/** Wire names of settings. */
export function toWireNames(patch: { readonly [Field in keyof VersionSettings]?: unknown }): string[] {
  return listFields().flatMap(([wire, field]) => (field in patch ? wire : []));
}

/** A patch as its owner would send it. */
export function toWirePatch(current: Companion, patch: Partial<VersionSettings>): Record<string, unknown> {
  const whole = toWireWhole({ ...current, ...patch });
  return Object.fromEntries(toWireNames(patch).map((name) => [name, whole[name]]));
}

export function toWireTool(tool: ToolSettings) {
  return { ...toWireToolSettings(tool), header_names: tool.headerNames };
}

export function toWireSource({ id, title, contentHash }: VersionSource) {
  return { id, title, content_hash: contentHash };
}

/** All that a version has of the companion, by field. */
function toWireContent({ settings, tools, sources }: CompanionVersion): Readonly<Record<string, unknown>> {
  return { ...toWireWhole(settings), tools: tools.map(toWireTool), sources: sources.map(toWireSource) };
}

/** Objects are the same whatever the order of their members: a database may change that. */
export function isSame(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b);
}
