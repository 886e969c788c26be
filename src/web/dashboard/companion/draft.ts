/** A companion while it is edited: everything as text, and what would be sent of it. */
import { changedFields } from "../lib/api.ts";
import { formatNumber } from "../lib/format.ts";
import type { Companion, CompanionDraft, Json } from "../lib/types.ts";
import { type MetadataDraft, readMetadata, toMetadataDraft } from "./metadata-draft.ts";
import { originProblem, splitOrigins } from "./origins.ts";
import {
  findPeopleProblems,
  type PeopleDraft,
  type PeopleProblem,
  toPeopleBody,
  toPeopleDraft,
} from "./people-draft.ts";

/** Fields that are a text, or not set. */
const textFields = ["system_prompt", "greeting", "model", "reasoning_effort", "no_answer_text"] as const;
/** Fields that are a number, or not set, with the most that each may be. */
const numberFields = {
  temperature: 2,
  max_output_tokens: 1_000_000,
  context_tokens: 10_000_000,
  retention_days: 36_500,
  daily_per_visitor: 10_000,
  // What the account's plan allows is less.
  daily_messages: Number.MAX_SAFE_INTEGER,
  monthly_tokens: 1_000_000_000_000,
} as const;
type NumberField = keyof typeof numberFields;
const plainFields = [...textFields, ...(Object.keys(numberFields) as NumberField[])];
type PlainFields<Value> = Record<(typeof plainFields)[number], Value>;

function mapPlainFields<Value>(read: (field: (typeof plainFields)[number]) => Value): PlainFields<Value> {
  return Object.fromEntries(plainFields.map((field) => [field, read(field)])) as PlainFields<Value>;
}

export interface Draft extends PlainFields<string>, PeopleDraft {
  name: string;
  starters: string[];
  voice: "none" | "voice_id" | "voice_agent_id";
  voice_value: string;
  metadata: MetadataDraft;
  /** One per line. */
  allowed_origins: string;
  visitor_auth: Companion["visitor_auth"];
  challenge: Companion["challenge"];
  answer_mode: Companion["answer_mode"];
  citations: Companion["citations"];
}

export type DraftField = keyof Draft;
type TextDraftField =
  | (typeof plainFields)[number]
  | ("name" | "voice" | "voice_value" | "allowed_origins" | "answer_mode" | "citations");
export type Problems = Partial<Record<DraftField | PeopleProblem, string>>;

export const maxStarters = 6;
/** In characters. */
export const maxPromptLength = 32_000;
const maxOrigins = 50;

export function emptyDraft(): Draft {
  return {
    ...mapPlainFields(() => ""),
    name: "",
    starters: [],
    voice: "none",
    voice_value: "",
    metadata: toMetadataDraft({}),
    allowed_origins: "",
    visitor_auth: "off",
    challenge: "off",
    answer_mode: "free",
    citations: "footer",
    ...toPeopleDraft(null),
  };
}

/** What owners set of a companion, which its draft has as well. */
export type Settings = Omit<CompanionDraft, "changed" | "conflicts" | "began_version" | "updated_at">;

export function toDraft(companion: Settings): Draft {
  return {
    ...mapPlainFields((field) => String(companion[field] ?? "")),
    name: companion.name,
    starters: companion.starters,
    voice: companion.voice_id !== null ? "voice_id" : companion.voice_agent_id !== null ? "voice_agent_id" : "none",
    voice_value: companion.voice_id ?? companion.voice_agent_id ?? "",
    metadata: toMetadataDraft(companion.metadata),
    allowed_origins: companion.allowed_origins.join("\n"),
    visitor_auth: companion.visitor_auth,
    challenge: companion.challenge,
    answer_mode: companion.answer_mode,
    citations: companion.citations,
    ...toPeopleDraft(companion),
  };
}

/** Its errors, as far as they can be found here; the server has the last word. `planMessages` are the plan's in a day. */
export function findProblems(draft: Draft, planMessages: number): Problems {
  const problems: Problems = {};
  const tooLong = (field: "name" | "system_prompt" | "greeting" | "no_answer_text", limit: number) => {
    const over = [...draft[field]].length - limit;
    if (over > 0) problems[field] = `${over} characters too long: at most ${limit}.`;
  };
  if (draft.name.trim() === "") problems.name = "Enter a name.";
  tooLong("name", 100);
  tooLong("system_prompt", maxPromptLength);
  tooLong("greeting", 1000);
  tooLong("no_answer_text", 1000);
  if (draft.starters.some((starter) => [...starter].length > 200)) problems.starters = "At most 200 characters each.";
  if (draft.voice !== "none" && draft.voice_value.trim() === "") problems.voice_value = "Enter the ID.";
  for (const [field, bound] of Object.entries(numberFields) as [NumberField, number][]) {
    const most = field === "daily_messages" ? planMessages : bound;
    const value = Number(draft[field]);
    const isWhole = field === "temperature" || Number.isInteger(value);
    const least = field === "temperature" ? 0 : 1;
    if (field === "daily_per_visitor" && draft.visitor_auth === "off") continue;
    if (draft[field] !== "" && !(isWhole && value >= least && value <= most)) {
      problems[field] =
        `Must be a ${field === "temperature" ? "" : "whole "}number from ${least} to ${formatNumber(most)}.`;
    }
  }
  const origins = splitOrigins(draft.allowed_origins);
  const badOrigin = origins.map(originProblem).find((problem) => problem !== null);
  if (badOrigin) problems.allowed_origins = badOrigin;
  else if (origins.length > maxOrigins) problems.allowed_origins = `At most ${maxOrigins} websites.`;
  const metadata = readMetadata(draft.metadata);
  if ("problem" in metadata) problems.metadata = metadata.problem;
  return { ...problems, ...findPeopleProblems(draft) };
}

export type Body = Record<string, Json>;

/** The whole draft as the API takes it; only for drafts without problems. */
export function toBody(draft: Draft): Body {
  const metadata = readMetadata(draft.metadata);
  return {
    ...mapPlainFields((field) => {
      if (field in numberFields) return draft[field] === "" ? null : Number(draft[field]);
      return draft[field].trim() === "" ? null : draft[field];
    }),
    name: draft.name,
    starters: draft.starters.map((starter) => starter.trim()).filter(Boolean),
    voice_id: draft.voice === "voice_id" ? draft.voice_value.trim() : null,
    voice_agent_id: draft.voice === "voice_agent_id" ? draft.voice_value.trim() : null,
    metadata: "value" in metadata ? metadata.value : {},
    allowed_origins: splitOrigins(draft.allowed_origins),
    visitor_auth: draft.visitor_auth,
    challenge: draft.challenge,
    answer_mode: draft.answer_mode,
    citations: draft.citations,
    ...toPeopleBody(draft),
    // Without verified visitors there is no one to count by.
    ...(draft.visitor_auth === "off" && { daily_per_visitor: null }),
  };
}

/** The body that creates a companion: only fields that are set. */
export function toNewBody(draft: Draft): Body {
  return Object.fromEntries(Object.entries(toBody(draft)).filter(([, value]) => value !== null));
}

/** Fields of the form in which two versions of a companion differ. */
export function findChanged(before: Settings, after: Settings): string[] {
  return Object.keys(changedFields(toBody(toDraft(before)), toBody(toDraft(after))));
}

/** What each part of the form is given. */
export interface SectionProps {
  draft: Draft;
  problems: Problems;
  change(part: Partial<Draft>): void;
  /** Fields that files set. */
  managed: ReadonlySet<string>;
}

/** What a text field of the form is given of the draft. `aside`: what else stands beside its label. */
export function tie({ draft, problems, change, managed }: SectionProps, field: TextDraftField, aside = "") {
  const onValue = (value: string) => change({ [field]: value });
  const mark = managed.has(field) ? "managed by files" : "";
  return {
    value: draft[field],
    onValue,
    error: problems[field],
    aside: [mark, aside].filter(Boolean).join(", "),
  };
}
