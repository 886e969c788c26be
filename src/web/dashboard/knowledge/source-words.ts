/** What is said of a source: which files can be read, its state, what can be done about it, and what has changed. */
import { countOf, formatNumber } from "../lib/format.ts";
import type { Source } from "../lib/types.ts";

export const typeNames: Record<Source["type"], string> = {
  text: "Text",
  file: "File",
  url: "Page",
  sitemap: "Sitemap",
};

/** What the list can be narrowed to. */
export const stateChoices = [
  { value: "", label: "All statuses" },
  { value: "busy", label: "Being read" },
  { value: "ready", label: "Ready" },
  { value: "problem", label: "With problems" },
] as const;

export const refreshChoices = [
  { value: "", label: "Manually" },
  { value: "1", label: "Every hour" },
  { value: "24", label: "Every day" },
  { value: "168", label: "Every week" },
  { value: "720", label: "Every month" },
] as const;

/** Also for intervals that were set elsewhere. */
export function refreshChoicesWith(value: string): { value: string; label: string }[] {
  const isKnown = refreshChoices.some((choice) => choice.value === value);
  return [...refreshChoices, ...(isKnown ? [] : [{ value, label: `Every ${value} hours` }])];
}

export function looksLikeSitemap(address: string): boolean {
  return /sitemap|\.xml(\.gz)?([?#]|$)/i.test(address);
}

type State = Pick<Source, "status" | "error" | "progress" | "chunks" | "type">;

export function isUnderWay({ status }: Pick<Source, "status">): boolean {
  return status === "queued" || status === "indexing";
}

export function hasProblem({ status, error }: Pick<Source, "status" | "error">): boolean {
  return status === "failed" || error !== null;
}

export function describeState(source: State): { label: string; tone: "neutral" | "accent" | "good" | "warn" | "bad" } {
  switch (source.status) {
    case "queued":
      return { label: "Queued", tone: "neutral" };
    case "indexing":
      return { label: describeProgress(source.progress), tone: "accent" };
    case "failed":
      return { label: "Failed", tone: "bad" };
    case "ready":
      return source.error === null ? { label: "Ready", tone: "good" } : { label: "Ready with warnings", tone: "warn" };
  }
}

function describeProgress(progress: Source["progress"]): string {
  if (progress === null) return "Indexing";
  const { done, total } = progress;
  if (total === null) return done === 0 ? "Indexing" : `Indexing, ${countOf(done, "page")} so far`;
  return `Indexing ${formatNumber(done)} of ${countOf(total, "page")}`;
}

const remedies: Record<Source["type"], string> = {
  text: "Edit the text or delete it.",
  file: "Replace the file or delete it.",
  url: "Check the URL and refresh, or add the text yourself.",
  sitemap: "Check the URL and refresh, or add its pages one by one.",
};

/** What to do about its error, unless that says so itself, or that nothing need be done; otherwise empty. */
export function findRemedy(source: State): string {
  if (source.error === null) return "";
  if (isUnderWay(source)) return "Retrying automatically.";
  if (source.status === "ready") return "";
  const isAdvised = /[.!?] \S/.test(source.error);
  return (source.chunks > 0 ? "The last version stays live. " : "") + (isAdvised ? "" : remedies[source.type]);
}

type Named = State & Pick<Source, "id" | "title">;

/** What readings have come to an end since, for those who cannot see the list; empty if none. */
export function describeChanges(before: readonly Named[], after: readonly Named[]): string {
  const busy = new Set(before.filter(isUnderWay).map(({ id }) => id));
  const ended = after.filter((source) => busy.has(source.id) && !isUnderWay(source));
  const [first] = ended;
  if (first === undefined) return "";
  if (ended.length === 1) {
    return first.status === "failed"
      ? `${first.title} failed: ${first.error ?? ""}`
      : `${first.title} is ready: ${countOf(first.chunks, "passage")}.`;
  }
  const failed = ended.filter(({ status }) => status === "failed").length;
  const ready = ended.length - failed;
  return [ready > 0 && `${ready} ready`, failed > 0 && `${failed} failed`].filter(Boolean).join(", ");
}

const extensions = ["pdf", "docx", "html", "htm", "xhtml", "md", "markdown", "txt", "text", "log", "csv", "tsv"];
const maxBytes = 20 * 1024 * 1024;

/** For the file chooser. */
export const acceptedFiles = extensions.map((extension) => `.${extension}`).join(",");

export const kindsSentence = "PDF, Word (.docx), HTML, Markdown, text and CSV, up to 20 MiB each.";

/** Why the file would be refused; null if it would not. Files without an extension are checked by the server. */
export function findFileProblem({ name, size }: Pick<File, "name" | "size">): string | null {
  const extension = /[^.]\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension !== undefined && !extensions.includes(extension)) {
    return `We can't read this kind of file. Save it as one of these: ${kindsSentence}`;
  }
  if (size > maxBytes) return "Larger than 20 MiB. Split it into smaller files.";
  return size === 0 ? "This file is empty." : null;
}
