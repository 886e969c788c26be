/** One question and the course of its reply: from the server, over cuts, to whatever end it has. */
import type { CitedSource, Confirmation, ConversationState, ToolCallState } from "../../reply-reader/reply-reader.ts";
import type { Client } from "./client.ts";
import type { Decision, Turn } from "./conversation.ts";

export interface RunningTurn extends Turn {
  /** Of a turn that begins with it, instead of a question: `asked` is the message that asks for it. */
  decision?: Decision | undefined;
  sessionId: string;
  stop: AbortController;
  /** Fires when the reply goes on without this page. */
  leave: AbortController;
  /** Why there is no text for the moment, if it is not the assistant; `checking`: a challenge is being solved. */
  pause: "reconnecting" | "checking" | null;
}

interface TurnListener {
  changed(): void;
  replied(): void;
  answers(state: ConversationState | null): void;
}

export function startTurn(turn: Turn, sessionId: string): RunningTurn {
  return { ...turn, sessionId, stop: new AbortController(), leave: new AbortController(), pause: null };
}

/**
 * Writes the reply into its message as it comes, and in the end what has become of both. Returns the failure that the
 * visitor must be shown, or null.
 */
export async function runTurn(
  client: Client,
  turn: RunningTurn,
  isNew: boolean,
  { changed, replied, answers }: TurnListener,
): Promise<unknown> {
  const { asked, reply, sessionId, stop, leave, decision } = turn;
  const running = new Set<string>();
  const setPause = (pause: RunningTurn["pause"]) => {
    turn.pause = pause;
    changed();
  };
  const onConnection = (isConnected: boolean) => setPause(isConnected ? null : "reconnecting");
  const onChallenge = (isSolving: boolean) => setPause(isSolving ? "checking" : null);
  const onSources = (sources: CitedSource[]) => {
    // The companion's owner may not want to show any: then there are no markers.
    reply.sources = sources.filter(({ n }) => reply.text.includes(`[${n}]`));
  };
  const onTool = ({ call_id, state }: ToolCallState) => {
    running[state === "running" ? "add" : "delete"](call_id);
    const work = running.size ? (decision ? "doing" : "looking") : null;
    if (work === reply.work) return;
    reply.work = work;
    replied();
  };
  const onConfirm = (asks: Confirmation) => {
    // Heard again after a cut, it is as old as it was.
    reply.asks ??= { ...asks, at: Date.now() };
  };
  for (;;) {
    const handlers = { onSources, onTool, onConfirm, onState: answers, onOffer: () => answers(null) };
    const options = { stop: stop.signal, leave: leave.signal, ...handlers };
    const fragments = decision
      ? client.decide(decision, options)
      : client.reply(
          { messageId: reply.id, sessionId, message: asked.text },
          { ...options, received: reply.text, isNew, onConnection, onChallenge },
        );
    try {
      for await (const fragment of fragments) {
        reply.text += fragment;
        replied();
      }
      return end(turn);
    } catch (error) {
      if (codesOf(error).includes("taken")) {
        answers({ state: "person", person: null, since: null, until: null, reason: "taken" });
        return end(turn);
      }
      if (codesOf(error)[1] !== "replaced" || !reply.text) return settle(turn, error);
      // The server had lost it: the one that it wrote instead replaces it.
      reply.text = "";
      isNew = false;
    }
  }
}

/** As far as it came: a reply that a person took has its end there. */
function end({ asked, reply }: RunningTurn): null {
  reply.state = asked.state = "done";
  reply.isOpen = undefined;
  // Without a word it was kept for a person: by this name it is known when it comes as one of the conversation's.
  if (!reply.text) asked.replyId = reply.id;
  return null;
}

const codesOf = (error: unknown) => [Object(error).code, Object(Object(error).cause).code];

function settle({ asked, reply, stop, leave, decision }: RunningTurn, error: unknown): unknown {
  // Nothing has happened to it.
  if (leave.signal.aborted) return null;
  const { isCut } = Object(error);
  // Perhaps in another tab.
  const isStopped = stop.signal.aborted || codesOf(error).includes("cancelled");
  reply.state = isStopped ? "stopped" : "incomplete";
  if (decision) return decision.fail(isStopped ? null : error, reply);
  reply.isOpen = (isCut && !isStopped) || undefined;
  if (!reply.text) asked.state = isStopped ? "stopped" : "failed";
  asked.replyId = reply.isOpen && !reply.text ? reply.id : undefined;
  return isStopped ? null : error;
}
