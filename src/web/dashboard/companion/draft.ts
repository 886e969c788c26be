/** A companion while it is edited: everything as text, and what would be sent of it. */
import { defaultThemeColor, isColor } from "../lib/color.ts";
import type { Companion, Json } from "../lib/types.ts";
import { type MetadataDraft, readMetadata, toMetadataDraft } from "./metadata-draft.ts";
import { originProblem } from "./origin.ts";

export interface Draft {
  name: string;
  system_prompt: string;
  greeting: string;
  starters: string[];
  avatar_url: string;
  theme_color: string;
  voice: "none" | "voice_id" | "voice_agent_id";
  voice_value: string;
  model: string;
  temperature: string;
  max_output_tokens: string;
  context_tokens: string;
  metadata: MetadataDraft;
  /** One per line. */
  allowed_origins: string;
  retention_days: string;
}

export type DraftField = keyof Draft;
export type Problems = Partial<Record<DraftField, string>>;

export const maxStarters = 6;
const maxOrigins = 50;

export function emptyDraft(): Draft {
  return {
    name: "",
    system_prompt: "",
    greeting: "",
    starters: [],
    avatar_url: "",
    theme_color: "",
    voice: "none",
    voice_value: "",
    model: "",
    temperature: "",
    max_output_tokens: "",
    context_tokens: "",
    metadata: toMetadataDraft({}),
    allowed_origins: "",
    retention_days: "",
  };
}

export function toDraft(companion: Companion): Draft {
  const text = (value: string | number | null) => (value === null ? "" : String(value));
  return {
    name: companion.name,
    system_prompt: text(companion.system_prompt),
    greeting: text(companion.greeting),
    starters: companion.starters,
    avatar_url: text(companion.avatar_url),
    theme_color: text(companion.theme_color),
    voice: companion.voice_id !== null ? "voice_id" : companion.voice_agent_id !== null ? "voice_agent_id" : "none",
    voice_value: text(companion.voice_id ?? companion.voice_agent_id),
    model: text(companion.model),
    temperature: text(companion.temperature),
    max_output_tokens: text(companion.max_output_tokens),
    context_tokens: text(companion.context_tokens),
    metadata: toMetadataDraft(companion.metadata),
    allowed_origins: companion.allowed_origins.join("\n"),
    retention_days: text(companion.retention_days),
  };
}

export function splitLines(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}

/** What is wrong with it, as far as that can be told here; the server has the last word. */
export function findProblems(draft: Draft): Problems {
  const problems: Problems = {};
  const tooLong = (field: "name" | "system_prompt" | "greeting", limit: number) => {
    const over = [...draft[field]].length - limit;
    if (over > 0) problems[field] = `${over} characters too long: at most ${limit}.`;
  };
  if (draft.name.trim() === "") problems.name = "A companion needs a name.";
  tooLong("name", 100);
  tooLong("system_prompt", 32_000);
  tooLong("greeting", 1000);
  if (draft.starters.some((starter) => [...starter].length > 200)) problems.starters = "At most 200 characters each.";
  if (draft.avatar_url !== "" && !/^https?:\/\/\S+$/.test(draft.avatar_url)) {
    problems.avatar_url = "Must begin with https:// or http://.";
  }
  if (draft.theme_color !== "" && !isColor(draft.theme_color)) problems.theme_color = "Must look like #4f46e5.";
  if (draft.voice !== "none" && draft.voice_value.trim() === "") problems.voice_value = "Its id is missing.";
  const number = (field: "temperature" | "max_output_tokens" | "context_tokens" | "retention_days", most: number) => {
    const value = Number(draft[field]);
    const isWhole = field === "temperature" || Number.isInteger(value);
    const least = field === "temperature" ? 0 : 1;
    if (draft[field] !== "" && !(isWhole && value >= least && value <= most)) {
      problems[field] = `Must be a ${field === "temperature" ? "" : "whole "}number from ${least} to ${most}.`;
    }
  };
  number("temperature", 2);
  number("max_output_tokens", 1_000_000);
  number("context_tokens", 10_000_000);
  number("retention_days", 36_500);
  const origins = splitLines(draft.allowed_origins);
  const badOrigin = origins.map(originProblem).find((problem) => problem !== null);
  if (badOrigin) problems.allowed_origins = badOrigin;
  else if (origins.length > maxOrigins) problems.allowed_origins = `At most ${maxOrigins} origins.`;
  const metadata = readMetadata(draft.metadata);
  if ("problem" in metadata) problems.metadata = metadata.problem;
  return problems;
}

export type Body = Record<string, Json>;

/** The whole draft as the API takes it; only for drafts without problems. */
export function toBody(draft: Draft): Body {
  const text = (value: string) => (value.trim() === "" ? null : value);
  const number = (value: string) => (value === "" ? null : Number(value));
  const metadata = readMetadata(draft.metadata);
  return {
    name: draft.name,
    system_prompt: text(draft.system_prompt),
    greeting: text(draft.greeting),
    starters: draft.starters.map((starter) => starter.trim()).filter(Boolean),
    avatar_url: text(draft.avatar_url),
    theme_color: text(draft.theme_color),
    voice_id: draft.voice === "voice_id" ? draft.voice_value.trim() : null,
    voice_agent_id: draft.voice === "voice_agent_id" ? draft.voice_value.trim() : null,
    model: text(draft.model),
    temperature: number(draft.temperature),
    max_output_tokens: number(draft.max_output_tokens),
    context_tokens: number(draft.context_tokens),
    metadata: "value" in metadata ? metadata.value : {},
    allowed_origins: splitLines(draft.allowed_origins),
    retention_days: number(draft.retention_days),
  };
}

/** What differs, so that a change made elsewhere meanwhile is not undone. */
export function changedFields(before: Body, after: Body): Body {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  return Object.fromEntries(changed);
}

/** The colour that visitors will see. */
export function shownColor(draft: Draft): string {
  return isColor(draft.theme_color) ? draft.theme_color : defaultThemeColor;
}

/** What each part of the form is given. */
export interface SectionProps {
  draft: Draft;
  problems: Problems;
  change(part: Partial<Draft>): void;
}
