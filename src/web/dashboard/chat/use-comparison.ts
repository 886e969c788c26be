/** One message, answered twice at the same time: the rounds so far, each side with a history of its own. */
import { useEffect, useRef, useState } from "preact/hooks";
import { toSentence } from "../lib/api.ts";
import { runTestChat, type TestChat, type Trace, type Turn } from "./test-chat.ts";

interface Reply {
  text: string;
  state: "streaming" | "done" | "stopped" | "cut";
  trace?: Trace;
  /** Why there is none, or no whole one. */
  problem?: string;
}

export interface Round {
  message: string;
  replies: readonly [Reply, Reply];
}

/** What answers: see the API's test chat. */
export type Answerer = Pick<TestChat, "draft" | "version">;

export function useComparison(companionId: string, answerers: readonly [Answerer, Answerer]) {
  const [rounds, setRounds] = useState<readonly Round[]>([]);
  const running = useRef<AbortController | null>(null);
  const isRunning = rounds.at(-1)?.replies.some(({ state }) => state === "streaming") ?? false;
  const stop = () => running.current?.abort();
  useEffect(() => stop, []);

  async function answer(side: 0 | 1, message: string, run: AbortController): Promise<void> {
    const at = rounds.length;
    const history = rounds.flatMap(({ message: asked, replies }): Turn[] => {
      const { text } = replies[side];
      return text === ""
        ? []
        : [
            { role: "user", text: asked },
            { role: "assistant", text },
          ];
    });
    const change = (edit: (reply: Reply) => Partial<Reply>) => {
      // After starting over, its position may be another's.
      if (running.current !== run) return;
      setRounds((before) =>
        before.map((round, index) => {
          if (index !== at) return round;
          const [left, right] = round.replies;
          return {
            message: round.message,
            replies: side === 0 ? [{ ...left, ...edit(left) }, right] : [left, { ...right, ...edit(right) }],
          };
        }),
      );
    };
    try {
      const isWhole = await runTestChat({
        ...answerers[side],
        ...{ companionId, message, history, signal: run.signal },
        onText: (fragment) => change(({ text }) => ({ text: text + fragment })),
        onTrace: (trace) => change(() => ({ trace })),
      });
      change(() => ({ state: isWhole ? "done" : "cut" }));
    } catch (error) {
      if (run.signal.aborted) change(() => ({ state: "stopped" }));
      else change(() => ({ state: "cut", problem: toSentence(error) }));
    }
  }

  return {
    rounds,
    isRunning,
    stop,
    ask(message: string): void {
      const run = new AbortController();
      running.current = run;
      const reply: Reply = { text: "", state: "streaming" };
      setRounds([...rounds, { message, replies: [reply, reply] }]);
      for (const side of [0, 1] as const) void answer(side, message, run);
    },
    startOver(): void {
      stop();
      running.current = null;
      setRounds([]);
    },
  };
}
