/** Makes a case of a kept conversation: what the visitor said, what tools answered, and the replies for reference. */
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import type { ToolCallState } from "../../domain/tool.ts";
import type { VisitorClaims } from "../../domain/visitor.ts";
import { toLine } from "./findings.ts";

export interface KeptConversation {
  readonly id: string;
  /** Null unless verified. */
  readonly visitor: VisitorClaims | null;
  /** Oldest first. */
  readonly messages: readonly KeptMessage[];
}

export interface KeptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Whether one of the team wrote it. */
  readonly isPersons: boolean;
  readonly calls: readonly KeptCall[];
}

export interface KeptCall {
  readonly tool: string;
  readonly state: ToolCallState;
  readonly result: string | null;
}

const maxNameCharacters = 60;

/** As a suite has it. Null where the visitor said nothing. `withVisitor`: name, e-mail and attributes, too. */
export function toKeptCase({ id, visitor, messages }: KeptConversation, withVisitor: boolean): JsonObject | null {
  const turns: JsonObject[] = [];
  for (const { role, text, isPersons, calls } of messages) {
    const last = turns.at(-1);
    if (role === "user") turns.push({ user: text, expect: [] });
    // What people of the team wrote is not asked of the companion.
    else if (last !== undefined && !isPersons && last["reference"] === undefined) {
      const tools = toTools(calls);
      turns[turns.length - 1] = {
        user: last["user"] ?? "",
        ...(Object.keys(tools).length === 0 ? {} : { tools }),
        ...(text === "" ? {} : { reference: text }),
        expect: [],
      };
    }
  }
  const [first] = turns;
  if (first === undefined) return null;
  const characters = [...toLine(String(first["user"]))];
  const begin = characters.slice(0, maxNameCharacters).join("") + (characters.length > maxNameCharacters ? "…" : "");
  return {
    name: `${begin} (${id.slice(-8)})`,
    ...(visitor === null ? {} : { visitor: toVisitor(visitor, withVisitor) }),
    turns,
  };
}

/** Without the flag only that there was one, since tools and instructions may depend on it. */
function toVisitor({ sub, name, email, attributes }: VisitorClaims, withVisitor: boolean): JsonObject {
  if (!withVisitor) return { sub: "visitor" };
  return {
    sub,
    ...(name === null ? {} : { name }),
    ...(email === null ? {} : { email }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  };
}

/** One answer for a tool that was called once, and a list in order for others. */
function toTools(calls: readonly KeptCall[]): JsonObject {
  const tools: JsonObject = {};
  for (const [tool, own] of Map.groupBy(calls, (call) => call.tool)) {
    const answers = own.flatMap(toAnswer);
    const [only] = answers;
    if (only !== undefined) tools[tool] = answers.length === 1 ? only : answers;
  }
  return tools;
}

function toAnswer({ state, result }: KeptCall): JsonObject[] {
  if (state === "done") return [{ result: toResult(result ?? "") }];
  if (state === "failed") return [{ error: result ?? "The tool could not be called." }];
  return state === "declined" ? [{ error: "The visitor does not want this call. Nothing was called." }] : [];
}

/** As JSON where that gives the model the same text again. */
function toResult(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return typeof value !== "string" && JSON.stringify(value) === text ? value : text;
  } catch {
    return text;
  }
}
