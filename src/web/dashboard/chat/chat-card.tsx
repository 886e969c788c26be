/** The playground's chat on the screen: what was said and what it cost, and the field for the next message. */
import { ArrowUp, RotateCcw, Square } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatDuration, formatNumber } from "../lib/format.ts";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/field.tsx";
import { Problem } from "../ui/states.tsx";
import { Bubble } from "./bubble.tsx";
import type { Trace } from "./test-chat.ts";
import type { ChatState } from "./use-chat.ts";

interface ChatCardProps {
  companion: Companion;
  chat: ChatState;
  /** Above the chat. */
  head: ComponentChildren;
  /** Beside starting over. */
  actions?: ComponentChildren;
  /** Beside stopping, while a reply is under way. */
  whileRunning?: ComponentChildren;
  onStartOver?: () => void;
}

export function ChatCard({ companion, chat, head, actions, whileRunning, onStartOver }: ChatCardProps) {
  const { turns, text, setText, problem, isRunning } = chat;
  const log = useRef<HTMLDivElement>(null);
  const transcript = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  /** People who read further up stay there while the reply grows. */
  const isAtEnd = useRef(true);
  const lastBottom = useRef(0);
  const followEnd = () => {
    if (isAtEnd.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight;
  };
  // Not with each change of the chat: the composer's growth moves the end, too.
  useEffect(() => {
    const observer = new ResizeObserver(followEnd);
    for (const { current } of [log, transcript]) if (current !== null) observer.observe(current);
    return () => observer.disconnect();
  }, []);

  /** Before what was pressed goes away; on touch screens the keyboard would cover what is to be read. */
  const goOn = () => (matchMedia("(pointer: coarse)").matches ? log : input).current?.focus();

  function ask(message: string): void {
    if (isRunning || message.trim() === "") return;
    goOn();
    isAtEnd.current = true;
    // At once: the event of an earlier scroll up may still be on its way.
    followEnd();
    void chat.ask(message);
  }

  return (
    <div class="card fills-window flex flex-col">
      <div class="flex flex-wrap items-center justify-between gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
        <p class="min-w-0 flex-1 basis-48 text-[0.94rem] text-muted">{head}</p>
        <div class="flex flex-wrap items-center gap-2">
          {actions}{" "}
          <Button
            kind="ghost"
            disabled={turns.length === 0}
            onClick={() => {
              goOn();
              chat.startOver();
              onStartOver?.();
            }}
          >
            <RotateCcw size={15} aria-hidden="true" />
            Start over
          </Button>
        </div>{" "}
      </div>
      <div
        ref={log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        role="log"
        aria-label="Conversation"
        aria-busy={isRunning}
        class="relative min-h-0 flex-1 overflow-y-auto"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const bottom = scrollTop + clientHeight;
          // Growth below also moves the end away; only scrolling up counts as leaving it.
          isAtEnd.current = scrollHeight - bottom < 32 || (isAtEnd.current && bottom >= lastBottom.current);
          lastBottom.current = bottom;
        }}
      >
        <div ref={transcript} class="space-y-5 p-4 sm:p-6">
          <Bubble
            speaker="assistant"
            name={companion.name}
            text={companion.greeting ?? `Hi, I'm ${companion.name}. How can I help you?`}
            isPlain
          />
          {turns.length === 0 && companion.starters.length > 0 && (
            <div class="flex flex-wrap justify-end gap-2">
              {companion.starters.map((starter) => (
                <Button key={starter} onClick={() => ask(starter)}>
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
              {turn.line && <span>{turn.line}</span>}
              {turn.state === "cut" && <span class="text-bad">The reply broke off.</span>}
              {turn.state === "stopped" && <span>You stopped the reply.</span>}
              {turn.trace && <TraceDetails trace={turn.trace} />}
            </Bubble>
          ))}
          {problem && <Problem>{problem}</Problem>}
        </div>
      </div>
      <Form class="flex flex-wrap items-end justify-end gap-2 border-t border-line p-3" onSubmit={() => ask(text)}>
        <textarea
          ref={input}
          aria-label="Message"
          placeholder="Write as a visitor would…"
          rows={2}
          dir="auto"
          class="control max-h-48 min-w-48 flex-1 resize-none"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            ask(text);
          }}
        />
        {isRunning ? (
          // Keys, so that one button never becomes the other under the very click that stops.
          <div key="running" class="flex gap-2">
            {whileRunning}
            <Button
              onClick={() => {
                goOn();
                chat.stop();
              }}
            >
              <Square size={15} aria-hidden="true" />
              Stop
            </Button>
          </div>
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

/** The cost of one test turn, and on request the prompt that was sent. */
function TraceDetails({ trace }: { trace: Trace }) {
  const [isOpen, setIsOpen] = useState(false);
  const about = trace.tokens_estimated ? "≈ " : "";
  return (
    <>
      {trace.first_text_ms !== null && <span>first text {formatDuration(trace.first_text_ms)}</span>}
      <span>total {formatDuration(trace.total_ms)}</span>
      <span>
        {about}
        {formatNumber(trace.input_tokens)} in, {about}
        {formatNumber(trace.output_tokens)} out
        {trace.reasoning_tokens > 0 && `, ${formatNumber(trace.reasoning_tokens)} of it thought`}
      </span>
      <button type="button" class="text-accent underline" onClick={() => setIsOpen(true)}>
        Prompt sent
      </button>
      {isOpen && (
        <Dialog title="Prompt sent" onClose={() => setIsOpen(false)} isWide>
          <p class="mb-4 text-muted">
            {trace.model}
            {trace.temperature !== null && `, temperature ${trace.temperature}`}
            {trace.reasoning_effort !== null && `, effort ${trace.reasoning_effort}`}, at most{" "}
            {formatNumber(trace.max_output_tokens)} tokens
          </p>
          <ol class="space-y-3">
            {trace.messages.map((message, index) => (
              // Keyed by index, since a prompt never changes.
              <li key={index} class="rounded-xl border border-line">
                <p class="border-b border-line px-3.5 py-1.5 font-mono text-[0.82rem] text-muted">{message.role}</p>
                <p dir="auto" class="px-3.5 py-2.5 text-[0.94rem] wrap-anywhere whitespace-pre-wrap">
                  {message.text}
                </p>
              </li>
            ))}
          </ol>
        </Dialog>
      )}
    </>
  );
}
