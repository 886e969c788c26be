/** What is different between two states of a companion, by field, as people read it. */
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
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

/** The settings of `to` that `from` has not, as they are stored. */
export function pickChanged(from: VersionSettings, to: VersionSettings): Partial<VersionSettings> {
  const [before, after] = [toWireSettings(from), toWireSettings(to)];
  const changed = companionFields().names.filter(([wire]) => !isSame(before[wire], after[wire]));
  return Object.fromEntries(changed.map(([, field]) => [field, to[field]]));
}

/** Wire names of settings. */
export function toWireNames(patch: Partial<CompanionSettings>): string[] {
  return companionFields().names.flatMap(([wire, field]) => (field in patch ? wire : []));
}

/** A patch as its owner would send it. */
export function toWirePatch(current: Companion, patch: Partial<CompanionSettings>): Record<string, unknown> {
  const whole = toWireSettings({ ...current, ...patch });
  const names = companionFields().names.filter(([, field]) => field in patch);
  return Object.fromEntries(names.map(([wire]) => [wire, whole[wire]]));
}

export function toWireTool(tool: ToolSettings) {
  return { ...toWireToolSettings(tool), header_names: tool.headerNames };
}

export function toWireSource({ id, title, contentHash }: VersionSource) {
  return { id, title, content_hash: contentHash };
}

/** All that a version has of the companion, by field. */
function toWireContent({ settings, tools, sources }: CompanionVersion): Readonly<Record<string, unknown>> {
  return { ...toWireSettings(settings), tools: tools.map(toWireTool), sources: sources.map(toWireSource) };
}

/** Objects are the same whatever the order of their members: a database may change that. */
export function isSame(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b);
}
