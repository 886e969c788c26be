/** One message of a conversation. */
import type { ComponentChildren } from "preact";
import { ReplyText } from "./reply-text.tsx";

interface BubbleProps {
  speaker: "user" | "assistant";
  text: string;
  /** The speaker's name. */
  name: string;
  isOpen?: boolean;
  /** Shown as it was written, without Markdown. */
  isPlain?: boolean;
  children?: ComponentChildren;
}

export function Bubble({ speaker, text, name, isOpen = false, isPlain = false, children }: BubbleProps) {
  const isUser = speaker === "user";
  const isAsWritten = isUser || isPlain;
  return (
    <div class={`flex max-w-[46rem] flex-col gap-1 ${isUser ? "ml-auto items-end" : "items-start"}`}>
      <div
        class={`max-w-full rounded-2xl px-4 py-2.5 wrap-anywhere ${
          isUser ? "rounded-br-md bg-tint" : "rounded-bl-md bg-sunken"
        } ${isAsWritten ? "whitespace-pre-wrap" : ""}`}
      >
        <span class="sr-only">{name}: </span>
        {isAsWritten ? <span dir="auto">{text}</span> : <ReplyText text={text} isOpen={isOpen} />}
        {isOpen && text === "" && <span class="text-muted">…</span>}
      </div>
      {children && (
        <div class="flex flex-wrap items-center gap-x-3 gap-y-1 px-1 text-[0.82rem] text-muted">{children}</div>
      )}
    </div>
  );
}
