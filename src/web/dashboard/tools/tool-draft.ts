/** A tool while it is edited: its fields as typed, what is wrong with them, and what is sent. */
import { toAddress } from "../lib/address.ts";
import { changedFields } from "../lib/api.ts";
import type { JsonObject } from "../lib/json-text.ts";
import type { Tool } from "../lib/types.ts";
import { type ParametersDraft, readParameters, toParametersDraft } from "./parameters-draft.ts";

export interface HeaderRow {
  name: string;
  /** Never the stored one, which is not shown. */
  value: string;
}

export interface ToolDraft {
  /** What answers its calls. */
  kind: "url" | "mcp_url";
  name: string;
  title: string;
  description: string;
  address: string;
  parameters: ParametersDraft;
  /** One a line; none for all. */
  tools: string;
  /** Null leaves those that are stored. */
  headers: readonly HeaderRow[] | null;
  seconds: string;
  confirm: boolean;
  requiresVisitor: boolean;
  /** Why it is made or changed, for the companion's history. */
  note: string;
}

export const usualSeconds = 10;
const maxSeconds = 20;

export function toToolDraft(tool: Tool | null): ToolDraft {
  return {
    kind: tool?.mcp_url ? "mcp_url" : "url",
    name: tool?.name ?? "",
    title: tool === null || tool.title === tool.name ? "" : tool.title,
    description: tool?.description ?? "",
    address: tool?.url ?? tool?.mcp_url ?? "",
    parameters: toParametersDraft((tool?.parameters as JsonObject | null | undefined) ?? { type: "object" }),
    tools: tool?.tools?.join("\n") ?? "",
    headers: tool === null ? [] : null,
    seconds: String((tool?.timeout_ms ?? usualSeconds * 1000) / 1000),
    confirm: tool?.confirm ?? false,
    requiresVisitor: tool?.requires_visitor ?? false,
    note: "",
  };
}

export type ToolProblems = Partial<Record<keyof ToolBody, string>>;

export function findToolProblems(draft: ToolDraft): ToolProblems {
  const problems: ToolProblems = {};
  if (draft.name.trim() === "") problems.name = "Enter a name.";
  else if (!/^[a-z0-9_]{1,64}$/.test(draft.name.trim()))
    problems.name = "Use a-z, 0-9 and _ only, up to 64 characters.";
  if (draft.address.trim() === "") problems[draft.kind] = "Enter the URL.";
  const seconds = Number(draft.seconds);
  if (!(seconds >= 0.1 && seconds <= maxSeconds)) problems.timeout_ms = `From 0.1 to ${maxSeconds} seconds.`;
  const read = readParameters(draft.parameters);
  if (draft.kind === "url" && "problem" in read) problems.parameters = read.problem;
  const headers = (draft.headers ?? []).filter(isTyped);
  const names = headers.map(({ name }) => name.trim().toLowerCase());
  if (names.includes("")) problems.headers = "Give every header a name.";
  else if (new Set(names).size < names.length) problems.headers = "Two headers have the same name.";
  else if (headers.some(({ value }) => value.trim() === "")) {
    problems.headers = "Enter a value for every header, including those stored before.";
  }
  return problems;
}

export interface ToolBody {
  name: string;
  title: string;
  url?: string;
  mcp_url?: string;
  description?: string;
  parameters?: JsonObject;
  confirm?: boolean;
  requires_visitor?: boolean;
  tools?: readonly string[] | null;
  headers?: Readonly<Record<string, string>>;
  timeout_ms: number;
}

/** Of a draft without problems. */
export function toToolBody(draft: ToolDraft): ToolBody {
  const { kind, headers, confirm } = draft;
  const name = draft.name.trim();
  const body: ToolBody = {
    name,
    title: draft.title.trim() || name,
    [kind]: toAddress(draft.address),
    timeout_ms: Math.round(Number(draft.seconds) * 1000),
  };
  if (headers !== null) {
    const typed = headers.filter(isTyped).map(({ name: header, value }) => [header.trim(), value.trim()]);
    body.headers = Object.fromEntries(typed);
  }
  if (kind === "mcp_url") {
    const tools = draft.tools.split("\n").map((line) => line.trim());
    const wanted = tools.filter((line) => line !== "");
    return { ...body, tools: wanted.length === 0 ? null : wanted, confirm };
  }
  const read = readParameters(draft.parameters);
  const parameters = "value" in read ? read.value : {};
  return {
    ...body,
    description: draft.description.trim(),
    parameters,
    confirm,
    requires_visitor: draft.requiresVisitor,
  };
}

const words: Record<keyof ToolBody | "header_names", string> = {
  name: "name",
  title: "title",
  url: "URL",
  mcp_url: "URL",
  description: "description",
  parameters: "parameters",
  confirm: "confirmation",
  requires_visitor: "who may use it",
  tools: "its tools",
  headers: "headers",
  header_names: "headers",
  timeout_ms: "time limit",
};

/** What differs between two versions, in words of the form. */
export function findToolChanges(before: Tool, after: Tool): string[] {
  const shown = (tool: Tool) => ({ ...toToolBody(toToolDraft(tool)), header_names: tool.header_names });
  return Object.keys(changedFields(shown(before), shown(after))).map((name) => words[name as keyof typeof words]);
}

/** An empty row is none. */
function isTyped({ name, value }: HeaderRow): boolean {
  return name.trim() !== "" || value.trim() !== "";
}
