/** The playground's chat on the screen: what was said and what it cost, and the field for the next message. */
import { RotateCcw } from "lucide-preact";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Companion } from "../lib/types.ts";
import { Button } from "../ui/button.tsx";
import { Problem } from "../ui/states.tsx";
import { Bubble } from "./bubble.tsx";
import { Composer } from "./composer.tsx";
import { useFollowEnd } from "./follow-end.ts";
import { TraceDetails } from "./trace-details.tsx";
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
  const { log, content, goToEnd, onScroll } = useFollowEnd();
  const input = useRef<HTMLTextAreaElement>(null);

  /** Before what was pressed goes away; on touch screens the keyboard would cover what is to be read. */
  const goOn = () => (matchMedia("(pointer: coarse)").matches ? log : input).current?.focus();

  function ask(message: string): void {
    if (isRunning || message.trim() === "") return;
    goOn();
    goToEnd();
    void chat.ask(message);
  }

  return (
    <div class="card fills-window flex flex-col">
      <div class="flex flex-wrap items-center justify-between gap-x-3 gap-y-2 border-b border-line px-4 py-2.5">
        <p class="min-w-0 flex-1 basis-48 text-14 text-muted">{head}</p>
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
        onScroll={onScroll}
      >
        <div ref={content} class="space-y-5 p-4 sm:p-6">
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
      <Composer
        {...{ text, setText, isRunning, ask, input, whileRunning }}
        stop={() => {
          goOn();
          chat.stop();
        }}
      />
    </div>
  );
}
