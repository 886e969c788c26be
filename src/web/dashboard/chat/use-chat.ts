/** A chat in the dashboard: its turns, the reply under way, and what went wrong with the last message. */
import { useEffect, useRef, useState } from "preact/hooks";
import { toSentence } from "../lib/api.ts";
import type { Trace, Turn } from "./test-chat.ts";

export interface ShownTurn extends Turn {
  id: number;
  state: "streaming" | "done" | "stopped" | "cut";
  trace?: Trace;
  /** What happened to its connection. */
  line?: string;
}

/** What one message is given to be answered with. */
export interface Ask {
  message: string;
  history: readonly Turn[];
  signal: AbortSignal;
  onText(fragment: string): void;
  onChange(change: Partial<ShownTurn>): void;
}

export interface ChatState {
  turns: readonly ShownTurn[];
  /** What is typed. */
  text: string;
  setText(text: string): void;
  problem: string | null;
  isRunning: boolean;
  ask(message: string): Promise<void>;
  stop(): void;
  startOver(): void;
}

/** `answer` resolves with whether the reply is whole; it rejects if it did not begin, or broke off. */
export function useChat(answer: (ask: Ask) => Promise<boolean>): ChatState {
  const [turns, setTurns] = useState<readonly ShownTurn[]>([]);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const isRunning = turns.at(-1)?.state === "streaming";
  const stop = () => running.current?.abort();
  useEffect(() => stop, []);

  async function ask(message: string): Promise<void> {
    if (isRunning || message.trim() === "") return;
    const history = turns.filter(({ text }) => text !== "").map(({ role, text }) => ({ role, text }));
    const id = turns.length;
    const run = new AbortController();
    running.current = run;
    let hasText = false;
    const changeOwn = (change: (turn: ShownTurn) => ShownTurn) => {
      // After starting over, its place may be another's.
      if (running.current === run)
        setTurns((before) => before.map((turn) => (turn.id === id + 1 ? change(turn) : turn)));
    };
    setProblem(null);
    setText("");
    setTurns([
      ...turns,
      { id, role: "user", text: message, state: "done" },
      { id: id + 1, role: "assistant", text: "", state: "streaming" },
    ]);
    try {
      const isWhole = await answer({
        message,
        history,
        signal: run.signal,
        onText(fragment) {
          hasText = true;
          changeOwn((turn) => ({ ...turn, text: turn.text + fragment }));
        },
        onChange: (change) => changeOwn((turn) => ({ ...turn, ...change })),
      });
      changeOwn((turn) => ({ ...turn, state: isWhole ? "done" : "cut" }));
    } catch (error) {
      if (running.current !== run) return;
      if (!run.signal.aborted) setProblem(toSentence(error));
      const state = run.signal.aborted ? "stopped" : "cut";
      if (hasText) return changeOwn((turn) => ({ ...turn, state }));
      // The message goes back into the field, so that it can be sent again.
      setTurns((before) => before.slice(0, -2));
      setText((typed) => typed || message);
    }
  }

  function startOver(): void {
    stop();
    running.current = null;
    setTurns([]);
    setProblem(null);
  }

  return { turns, text, setText, problem, isRunning, ask, stop, startOver };
}
