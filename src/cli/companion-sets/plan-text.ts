/** A plan for people: what changes, texts as unified diffs. */
import type { ApplyResult, PlanItem } from "../../api/companions/apply/responses.ts";
import type { JsonValue } from "../../domain/json.ts";

/** Longer ones are shown on lines of their own. */
const maxInline = 80;
const context = 3;
/** Lines removed and added; with more, finding the fewest takes minutes, and one text replaces the other. */
const maxEdits = 1_000;

type MakeDiff = (from: string, to: string) => string[];

/** The library of the diff is loaded only for a change that needs it. */
export async function describePlan({ plan, applied }: ApplyResult): Promise<string> {
  const changes = plan.flatMap((item) => item.changes);
  const needsDiff = changes.some(({ from, to }) => isLong(from) || isLong(to));
  const makeDiff = needsDiff ? await loadDiff() : () => [];
  const shown = plan.filter(({ action }) => action !== "unchanged").map((item) => describeItem(item, makeDiff));
  return [...shown, describeSum(plan, applied)].map(clean).join("\n\n");
}

async function loadDiff(): Promise<MakeDiff> {
  const { structuredPatch } = await import("diff");
  return (from, to) => {
    const patch = structuredPatch("", "", from, to, "", "", { context, maxEditLength: maxEdits });
    if (patch === undefined) return [...splitLines(from, "-"), ...splitLines(to, "+")];
    return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ]);
  };
}

function splitLines(text: string, mark: string): string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => mark + line);
}

function describeItem({ action, slug, id, changes, drift }: PlanItem, makeDiff: MakeDiff): string {
  const lines = [`${action} ${slug}${id === null ? "" : `  (${id})`}`];
  for (const { field, from, to } of changes)
    lines.push(...describeChange(field, action === "create" ? null : from, to, makeDiff));
  for (const { field, applied, now, by, at } of drift) {
    const who = by === null ? "someone else" : (by.name ?? by.id ?? by.type);
    lines.push(`  ! ${field} was changed by ${who}${at === null ? "" : ` at ${at}`} since it was applied`);
    lines.push(`      applied ${shorten(applied)}`, `      now     ${shorten(now)}`);
  }
  return lines.join("\n");
}

function describeChange(field: string, from: JsonValue, to: JsonValue, makeDiff: MakeDiff): string[] {
  if (!isLong(from) && !isLong(to)) {
    if (from === null) return [`  + ${field}: ${write(to)}`];
    return to === null ? [`  - ${field}: ${write(from)}`] : [`  ~ ${field}: ${write(from)} -> ${write(to)}`];
  }
  const diff = makeDiff(toLines(from), toLines(to));
  return [`  ~ ${field}:`, ...diff.map((line) => `      ${line}`)];
}

function isLong(value: JsonValue): boolean {
  if (typeof value === "string") return value.includes("\n") || value.length > maxInline;
  return JSON.stringify(value).length > maxInline;
}

/** Of objects, a line for each value. */
function toLines(value: JsonValue): string {
  if (value === null) return "";
  return typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`;
}

function write(value: JsonValue): string {
  return JSON.stringify(value);
}

function shorten(value: JsonValue): string {
  const text = write(value);
  return text.length <= maxInline ? text : `${text.slice(0, maxInline)}…`;
}

function describeSum(plan: readonly PlanItem[], applied: boolean): string {
  const counts = Map.groupBy(plan, ({ action }) => action);
  const parts = [...counts].map(([action, items]) => `${items.length} ${action}`);
  return `${applied ? "Applied" : "Not applied, a dry run"}: ${parts.join(", ")}.`;
}

/** What companions hold comes from users: it must not move the terminal's cursor. */
export function clean(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, " ");
}
