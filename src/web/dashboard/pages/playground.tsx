/** `/app/companions/:id/playground`: a chat as a visitor would have it, and what each turn sent, took and cost. */

import { ArrowUp, RotateCcw, Square } from "lucide-preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Bubble } from "../chat/bubble.tsx";
import { runTestChat, type Trace, type Turn } from "../chat/test-chat.ts";
import { TraceDetails } from "../chat/trace-details.tsx";
import { CompanionFrame } from "../companion/companion-frame.tsx";
import { toSentence } from "../lib/api.ts";
import type { Companion } from "../lib/types.ts";
import type { Params } from "../paths.ts";
import { Button } from "../ui/button.tsx";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";

export default function PlaygroundPage({ params }: { params: Params }) {
  return (
    <CompanionFrame id={params.id ?? ""}>
      {(companion) => <Playground key={companion.id} companion={companion} />}
    </CompanionFrame>
  );
}

interface ShownTurn extends Turn {
  id: number;
  state: "streaming" | "done" | "stopped" | "cut";
  trace?: Trace;
}

function Playground({ companion }: { companion: Companion }) {
  const [turns, setTurns] = useState<readonly ShownTurn[]>([]);
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const log = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  /** Whoever reads further up stays there while the reply grows. */
  const isAtEnd = useRef(true);
  const lastTop = useRef(0);
  const isRunning = turns.at(-1)?.state === "streaming";

  useEffect(() => () => running.current?.abort(), []);
  const followEnd = () => {
    if (isAtEnd.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  };
  useEffect(followEnd, [turns, problem]);

  const changeLast = (change: (turn: ShownTurn) => ShownTurn) =>
    setTurns((before) => before.map((turn, index) => (index === before.length - 1 ? change(turn) : turn)));

  /** Before what was pressed goes away; on touch screens the keyboard would cover what is to be read. */
  const goOn = () => (matchMedia("(pointer: coarse)").matches ? log : input).current?.focus();

  async function ask(message: string): Promise<void> {
    if (isRunning || message.trim() === "") return;
    goOn();
    const history = turns.filter(({ text }) => text !== "").map(({ role, text }) => ({ role, text }));
    const id = turns.length;
    let hasText = false;
    isAtEnd.current = true;
    // At once: the event of an earlier scroll up may still be on its way.
    followEnd();
    setProblem(null);
    setText("");
    setTurns([
      ...turns,
      { id, role: "user", text: message, state: "done" },
      { id: id + 1, role: "assistant", text: "", state: "streaming" },
    ]);
    const run = new AbortController();
    running.current = run;
    try {
      const isWhole = await runTestChat({
        companionId: companion.id,
        message,
        history,
        signal: run.signal,
        onText(fragment) {
          hasText = true;
          changeLast((turn) => ({ ...turn, text: turn.text + fragment }));
        },
        onTrace: (trace) => changeLast((turn) => ({ ...turn, trace })),
      });
      changeLast((turn) => ({ ...turn, state: isWhole ? "done" : "cut" }));
    } catch (error) {
      if (!run.signal.aborted) setProblem(toSentence(error));
      const state = run.signal.aborted ? "stopped" : "cut";
      if (hasText) return changeLast((turn) => ({ ...turn, state }));
      // What was asked goes back to where it can be sent again.
      setTurns((before) => before.slice(0, -2));
      setText((typed) => typed || message);
    }
  }

  return (
    <div class="card fills-window flex flex-col">
      <div class="flex items-center justify-between gap-3 border-b border-line px-4 py-2.5">
        <p class="text-[0.94rem] text-muted">
          Nothing is kept; each message counts in the companion's day and in your usage.
        </p>
        <Button
          kind="ghost"
          disabled={turns.length === 0}
          onClick={() => {
            goOn();
            running.current?.abort();
            setTurns([]);
            setProblem(null);
          }}
        >
          <RotateCcw size={15} aria-hidden="true" />
          Start over
        </Button>
      </div>
      <div
        ref={log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-busy={isRunning}
        class="relative min-h-0 flex-1 space-y-5 overflow-y-auto p-4 sm:p-6"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          // What grows below moves the end away; only going up leaves it.
          const isNear = scrollHeight - scrollTop - clientHeight < 32;
          isAtEnd.current = isNear || (isAtEnd.current && scrollTop >= lastTop.current);
          lastTop.current = scrollTop;
        }}
      >
        <Bubble
          speaker="assistant"
          name={companion.name}
          text={companion.greeting ?? `Hi, I'm ${companion.name}. How can I help you?`}
          isPlain
        />
        {turns.length === 0 && companion.starters.length > 0 && (
          <div class="flex flex-wrap justify-end gap-2">
            {companion.starters.map((starter) => (
              <Button key={starter} onClick={() => void ask(starter)}>
                <span dir="auto" class="whitespace-normal">
                  {starter}
                </span>
              </Button>
            ))}
          </div>
        )}
        {turns.map((turn) => (
          <Bubble
            key={turn.id}
            speaker={turn.role}
            name={turn.role === "user" ? "You" : companion.name}
            text={turn.text}
            isOpen={turn.state === "streaming"}
          >
            {turn.state === "cut" && <span class="text-bad">The reply broke off.</span>}
            {turn.state === "stopped" && <span>You stopped the reply.</span>}
            {turn.trace && <TraceDetails trace={turn.trace} />}
          </Bubble>
        ))}
        {problem && <Problem>{problem}</Problem>}
      </div>
      <Form class="flex items-end gap-2 border-t border-line p-3" onSubmit={() => void ask(text)}>
        <textarea
          ref={input}
          aria-label="Message"
          placeholder="Write as a visitor would…"
          rows={2}
          dir="auto"
          class="control max-h-48 resize-none"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void ask(text);
          }}
        />
        {isRunning ? (
          // Keys, so that one button never becomes the other under the very click that stops.
          <Button
            key="stop"
            onClick={() => {
              goOn();
              running.current?.abort();
            }}
          >
            <Square size={15} aria-hidden="true" />
            Stop
          </Button>
        ) : (
          <Button key="send" type="submit" kind="primary" disabled={text.trim() === ""}>
            <ArrowUp size={16} aria-hidden="true" />
            Send
          </Button>
        )}
      </Form>
    </div>
  );
}
