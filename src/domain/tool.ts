/** Tools: what a companion's model may call, and what becomes of a call. */
import { type JsonObject, parseJsonObject } from "./json.ts";

/** Of a companion. */
export const maxTools = 32;

/** Also of what a model calls: the name, or for an MCP server its prefix. */
export const toolNamePattern = /^[a-z0-9_]{1,64}$/;

/** Asks for a person, in companions that allow it. */
export const personTool = "ask_for_a_person";
/** Of what the server itself answers: no owner's tool has one. */
export const reservedToolNames: readonly string[] = [personTool];

/** Of `parameters`, as JSON in UTF-8. */
export const maxParametersBytes = 8 * 1024;

/** Of a call's arguments: to write JSON takes time by the square of its depth, a second for 30 000 levels. */
export const maxArgumentDepth = 32;

/** Of what a tool answers, in UTF-8 bytes. */
export const maxResultBytes = 16 * 1024;

export const toolTimeoutMs = { least: 100, most: 20_000, usual: 10_000 } as const;

/** Answers of the model with calls, in one turn; after the last it is asked once more, without tools. */
export const maxRounds = 5;

/** Of one turn; those beyond are answered with a sentence. */
export const maxCallsPerTurn = 8;

/** Of a turn, from its first round. */
export const maxRoundsMs = 5 * 60_000;

/** How long a visitor may think before confirming. */
export const confirmableMs = 10 * 60_000;

/**
 * What the URL of a tool begins with that the server answers itself, as the demo's do. Such a tool has no secret, and no one
 * can enter such a URL: it is none of a server.
 */
export const builtInPrefix = "companiond:";

/** Who answers a tool's calls: a URL of the owner's, or a server that speaks MCP and offers several tools. */
export type ToolTarget =
  | { readonly type: "http"; readonly url: string; readonly description: string; readonly parameters: JsonObject }
  | {
      readonly type: "mcp";
      readonly url: string;
      /** Those that are offered, by the server's own names; null for all. */
      readonly tools: readonly string[] | null;
    };

export interface Tool {
  readonly id: string;
  readonly companionId: string;
  /** Unique in the companion. Of an MCP server: the prefix of its tools' names. */
  readonly name: string;
  /** For people; the name unless the owner gave one. */
  readonly title: string;
  readonly target: ToolTarget;
  /** Sent with every request, by name, sealed as JSON; null for none. */
  readonly sealedHeaders: string | null;
  /** The names of those headers, which may be shown. */
  readonly headerNames: readonly string[];
  /** Signs its calls: a `whsec_…`, sealed. Empty for a tool that the server answers itself. */
  readonly sealedSecret: string;
  readonly timeoutMs: number;
  /** Whether the visitor is asked before each call. */
  readonly confirm: boolean;
  /** Whether only verified visitors may use it. Never of an MCP server's. */
  readonly requiresVisitor: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A tool without its id, secrets and times; of its headers the names. */
export type ToolSettings = Pick<
  Tool,
  "name" | "title" | "target" | "headerNames" | "timeoutMs" | "confirm" | "requiresVisitor"
>;

export function toolSettingsOf(tool: Tool): ToolSettings {
  const { name, title, target, headerNames, timeoutMs, confirm, requiresVisitor } = tool;
  return { name, title, target, headerNames, timeoutMs, confirm, requiresVisitor };
}

/** What a visitor is asked, by what the model calls: an MCP server's tools have one title together. */
export function titleOfCall({ name, title, target }: Tool, called: string): string {
  if (target.type === "http") return title;
  return `${title}: ${called.slice(`${name}_`.length).replaceAll("_", " ")}`;
}

/** A function as a model is offered it. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonObject;
}

/** A call that a model asked for. */
export interface AskedCall {
  /** The provider's name for it; made up where it sent none. Unique in its answer. */
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: a JSON object, or what it took for one. */
  readonly arguments: string;
}

/**
 * What became of a call: `refused` ones, of unknown tools or with faulty arguments, are not sent; `unanswered` ones are not
 * among the results that a trial gives.
 */
export type CallOutcome = "done" | "failed" | "refused" | "unanswered";

/** A call and what the model is shown of it. */
export interface AnsweredCall extends AskedCall {
  readonly result: string;
  /** Left out where it was decided on in an earlier request. */
  readonly outcome?: CallOutcome;
}

/** An answer of a model with calls, earlier in the same turn, and what they came to. */
export interface ToolRound {
  /** The model's text before its calls; often nothing. */
  readonly text: string;
  readonly calls: readonly AnsweredCall[];
  /**
   * What the provider wants back with them, as its engine returned it (`ReplyOutcome.carry`): for that provider alone,
   * never stored. Null where there is nothing, or where the round is of an earlier request.
   */
  readonly carry: unknown;
}

/**
 * - `waiting`: the visitor has not decided.
 * - `running`: it was sent, or is about to be; also of one whose server stopped meanwhile.
 * - `done`: answered; `failed`: with anything but a result, or not at all.
 * - `declined`: by the visitor.
 */
export const toolCallStates = ["waiting", "running", "done", "failed", "declined"] as const;
export type ToolCallState = (typeof toolCallStates)[number];

/** A call as it is kept: in the transcript of its conversation, and among the last calls of its tool. */
export interface ToolCall {
  /** Ours; the same in each attempt to send it. */
  readonly id: string;
  readonly toolId: string;
  /** As the model called it. */
  readonly tool: string;
  /** As JSON, as it was sent. */
  readonly arguments: string;
  /** What the model received; null until there is a result. */
  readonly result: string | null;
  readonly state: ToolCallState;
  /** Milliseconds from the first attempt to the answer; null until then. */
  readonly durationMs: number | null;
  readonly createdAt: number;
}

/** What secrets of a tool are sealed as. */
export const sealedAs = {
  secret: (toolId: string) => `tool secret ${toolId}`,
  headers: (toolId: string) => `tool headers ${toolId}`,
};

/** Of a model's arguments, in UTF-16 code units. */
const maxArgumentUnits = 64 * 1024;

/** Of a call. Null for what is no JSON object. Some models write nothing where there is nothing to say. */
export function readArguments(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  if (text.length > maxArgumentUnits) return null;
  return parseJsonObject(text);
}
