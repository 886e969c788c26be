/** Versions in words: who made them and how, what their fields are called, and what values are as text. */
import type { CompanionVersion, FieldChange } from "../lib/types.ts";

const viaWords: Record<NonNullable<CompanionVersion["via"]>, string> = {
  api: "via API",
  dashboard: "in the dashboard",
  cli: "via the command line",
  apply: "from files",
  restore: "by restoring an earlier version",
  publish: "by publishing the draft",
};

/** "Ada, in the dashboard": as much of it as is known. */
export function describeOrigin({ actor, via }: Pick<CompanionVersion, "actor" | "via">): string {
  const who = actor === null ? null : (actor.name ?? (actor.type === "cli" ? "The operator" : "Someone"));
  return [who, via && viaWords[via]].filter(Boolean).join(", ");
}

function nameField(field: string): string {
  return field.replaceAll("_", " ");
}

/** As a heading. */
export function titleField(field: string): string {
  return field.charAt(0).toUpperCase() + nameField(field).slice(1);
}

export function nameFields(fields: readonly string[]): string {
  return new Intl.ListFormat("en").format(fields.map(nameField));
}

/** Longer values, and those of several lines, are compared line by line. */
const maxInline = 120;

export function isLong({ from, to }: Pick<FieldChange, "from" | "to">): boolean {
  return [from, to].some((value) => {
    const text = toText(value);
    return text.length > maxInline || text.includes("\n");
  });
}

/** Empty for what is not set. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return String(value);
  if (!Array.isArray(value)) return outline(value);
  if (value.every((item) => typeof item !== "object")) return value.join("\n");
  return value.map((item) => describeSource(item) ?? outline(item)).join("\n");
}

/** A line for each value, indented by what it is part of: without the marks of JSON, which say nothing to most people. */
function outline(value: object, indent = ""): string {
  const lines = Object.entries(value).map(([key, item]) => {
    const name = `${indent}${Array.isArray(value) ? "–" : `${key}:`}`;
    const isNested = typeof item === "object" && Object.keys(item ?? {}).length > 0;
    return isNested ? `${name}\n${outline(item, `${indent}  `)}` : `${name} ${toText(item)}`.trimEnd();
  });
  return lines.join("\n");
}

/** A source's id says nothing to people. */
function describeSource(item: unknown): string | null {
  const { title, content_hash: hash } = Object(item);
  if (hash === undefined) return null;
  return `${title ?? "Untitled"} (${hash === null ? "not read yet" : `content ${String(hash).slice(0, 8)}`})`;
}
