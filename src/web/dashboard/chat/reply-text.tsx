/** A companion's text as its visitors see it: the widget's own Markdown, which creates elements and no markup. */
import { useEffect, useRef } from "preact/hooks";
import { createMarkdownView, type MarkdownView } from "../../widget/markdown.ts";

const words = { code: "Code block", table: "Table" };

export function ReplyText({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ view: MarkdownView; text: string; isOpen: boolean } | null>(null);
  useEffect(() => {
    const into = host.current;
    if (!into) return;
    const before = drawn.current;
    // A view follows a reply as it grows; any other text gets a new one.
    const isGrown = before?.isOpen && text.startsWith(before.text);
    if (!isGrown) into.replaceChildren();
    const view = isGrown ? before.view : createMarkdownView(into, words);
    view.update(text, isOpen);
    drawn.current = { view, text, isOpen };
  }, [text, isOpen]);
  return <div ref={host} dir="auto" class="prose" />;
}
