/** One message of a conversation. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { createCopyButton } from "../../widget/copy-button.ts";
import { createMarkdownView, type MarkdownView } from "../../widget/markdown.ts";
import { frameBlock } from "../../widget/markdown-frames.ts";

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
        class={`wrap-anywhere ${isUser ? "max-w-full rounded-2xl rounded-br-md bg-tint px-3.5 py-2" : "w-full"} ${
          isAsWritten ? "whitespace-pre-wrap" : ""
        }`}
      >
        <span class="sr-only">{name}: </span>
        {isAsWritten ? <span dir="auto">{text}</span> : <ReplyText text={text} isOpen={isOpen} />}
        {isOpen && text === "" && <span class="text-muted">…</span>}
      </div>
      {children && <div class="flex flex-wrap items-center gap-x-3 gap-y-1 text-12 text-muted">{children}</div>}
    </div>
  );
}

// Not with the sign-in, which shows no document.
const sheet = new CSSStyleSheet();
sheet.replaceSync(REPLY_STYLE);
document.adoptedStyleSheets.push(sheet);

const words = {
  code: "Code block",
  table: "Table",
  copy: "Copy",
  copied: "Copied",
  expand: "Expand",
  shut: "Close",
};
const frame = (block: HTMLElement, getCode?: () => string) =>
  frameBlock(block, words, getCode ? [createCopyButton(words, getCode)] : []);

/** A companion's text as its visitors see it: the widget's own Markdown, which creates elements and no markup. */
function ReplyText({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ view: MarkdownView; text: string; isOpen: boolean } | null>(null);
  // Before anything that scrolls to it measures.
  useLayoutEffect(() => {
    const into = host.current;
    if (!into) return;
    const before = drawn.current;
    // A view follows a reply as it grows; any other text gets a new one.
    const isGrown = before?.isOpen && text.startsWith(before.text);
    if (!isGrown) into.replaceChildren();
    const view = isGrown ? before.view : createMarkdownView(into, words, frame);
    view.update(text, isOpen);
    drawn.current = { view, text, isOpen };
  }, [text, isOpen]);
  return <div ref={host} dir="auto" class="reply" />;
}
