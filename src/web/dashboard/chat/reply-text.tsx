/** What a companion wrote, drawn as its visitors see it: the widget's own Markdown, which makes elements and no markup. */
import { useEffect, useRef } from "preact/hooks";
import { createMarkdownView, type MarkdownView } from "../../widget/markdown.ts";

export function ReplyText({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<MarkdownView | null>(null);
  useEffect(() => {
    if (!host.current) return;
    view.current ??= createMarkdownView(host.current, () => document.createElement("span"));
    view.current.update(text, isOpen);
  }, [text, isOpen]);
  return <div ref={host} dir="auto" class="prose" />;
}
