/** Asks companions at a server, by their test chats. */
import type { EvalTarget, MadeCall, ReplyFacts } from "../../core/evals/asked.ts";
import { BudgetReached, TurnFailed } from "../../core/evals/asked.ts";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../domain/json.ts";
import { type ApiAnswer, ApiRefusal, type ApiServer } from "../api-server.ts";
import { CommandFailure } from "../command.ts";

/** Longer than a reply may take. */
const replyTimeoutMs = 11 * 60_000;

export interface UrlTargetOptions {
  /** What of the companion is tried, as a test chat takes it: its draft, a version, another model. */
  readonly tried: JsonObject;
  readonly signal: AbortSignal;
}

export function createUrlTarget(
  server: ApiServer,
  { tried, signal }: UrlTargetOptions,
): Pick<EvalTarget, "ask"> & {
  /** Rejects with `CommandFailure` where the server is not to be asked. */
  has(slug: string): Promise<boolean>;
} {
  const ids = new Map<string, string | null>();

  async function findId(slug: string): Promise<string | null> {
    const known = ids.get(slug);
    if (known !== undefined) return known;
    const { text } = await server.call("GET", "/api/companions", { query: { slug, fields: "id" }, signal });
    const [found]: { id: string }[] = JSON.parse(text).data;
    ids.set(slug, found?.id ?? null);
    return found?.id ?? null;
  }

  return {
    has: async (slug) => (await findId(slug)) !== null,

    async ask({ companion, visitor, history, turn }) {
      const id = await findId(companion);
      if (id === null) throw new TurnFailed(`There is no companion with the slug ${companion}.`);
      const asked = { message: turn.user, history: history.map(({ role, text }) => ({ role, text })) };
      const known = visitor === null ? {} : { visitor: { ...visitor } };
      const body = { ...tried, ...asked, ...known, tool_results: turn.tools, trace: true };
      const path = `/api/companions/${id}/test-chat`;
      const answer = await server.call("POST", path, { body, signal, timeoutMs: replyTimeoutMs }).catch(toFailure);
      return toFacts(answer);
    },
  };
}

/** What the next message may meet as well ends the command; the others are matters of a turn. */
function toFailure(error: unknown): never {
  if (!(error instanceof ApiRefusal)) throw error;
  if (/^(budget|quota)_exceeded$/.test(error.code)) throw new BudgetReached(error.message);
  if (error.status === 401 || error.status === 403) throw error;
  throw new TurnFailed(error.message);
}

function toFacts({ text }: ApiAnswer): ReplyFacts {
  let reply = "";
  let trace: JsonObject | null = null;
  let failure = "The reply broke off.";
  let isWhole = false;
  for (const line of text.split("\n")) {
    if (line === "data: [DONE]") isWhole = true;
    else if (line.startsWith("data: ")) reply += readMember(line.slice("data: ".length), "text");
    else if (line.startsWith(": trace ")) trace = parseJsonObject(line.slice(": trace ".length));
    else if (line.startsWith(": failure ")) failure = readMember(line.slice(": failure ".length), "detail");
  }
  const costMicros = toNumber(trace?.["cost_micros"]);
  if (!isWhole) throw new TurnFailed(failure, trace === null ? 0 : costMicros);
  if (trace?.["tool_calls"] === undefined) {
    throw new CommandFailure("The server's test chats do not show what evals need: it is older than this program.");
  }
  return {
    text: reply,
    calls: listObjects(trace["tool_calls"]).map(toCall),
    cited: listObjects(trace["sources"]).flatMap(({ title, url, cited }) =>
      cited === true ? { title: String(title), url: typeof url === "string" ? url : null } : [],
    ),
    isNoAnswer: trace["no_answer"] === true,
    firstTextMs: toNumber(trace["first_text_ms"]),
    totalMs: toNumber(trace["total_ms"]) ?? 0,
    costMicros,
  };
}

function toCall({ tool, arguments: given, state }: JsonObject): MadeCall {
  const outcome = (["done", "failed", "refused", "unanswered"] as const).find((one) => one === state) ?? "done";
  return { tool: String(tool), arguments: given ?? null, outcome };
}

function toNumber(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function listObjects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function readMember(json: string, name: string): string {
  const member = parseJsonObject(json)?.[name];
  return typeof member === "string" ? member : "";
}
