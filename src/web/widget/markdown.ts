/** Markdown as it streams in: whole lines are drawn once and for all, and only the last one again, with what has come. */
import { createBlocks, type Frame } from "./markdown-blocks.ts";
import { reach } from "./markdown-inline.ts";
import type { Words } from "./markdown-leaves.ts";

export interface MarkdownView {
  /** The text has only grown since the last time. `isOpen`: it may grow again; once it may not, it must not. */
  update(text: string, isOpen: boolean): void;
}

/** `frame` adds what a block of code or a table has around it, such as a button that copies it. */
export function createMarkdownView(into: HTMLElement, words: Words, frame?: Frame): MarkdownView {
  const blocks = createBlocks(into, words, frame);
  /** What stands before it is drawn for good. */
  let at = 0;
  /** Up to here the text has been searched for the ends of lines. */
  let seen = 0;
  /** Whether the beginning of the last line is drawn for good, too: otherwise an endless line would be drawn endlessly. */
  let isWithinLine = false;
  let undo = () => {};

  const take = (end: number, isShort: boolean, text: string, isOpen: boolean) => {
    const line = text.slice(at, end);
    if (isWithinLine) blocks.lengthen(line);
    else blocks.take(line.endsWith("\r") ? line.slice(0, -1) : line, isShort, isOpen);
  };

  return {
    update(text, isOpen) {
      undo();
      let newline = text.indexOf("\n", Math.max(at, seen));
      for (;;) {
        const end = newline < 0 ? text.length : newline;
        if (end - at > reach) {
          take(at + reach, false, text, false);
          at += reach;
          isWithinLine = true;
          continue;
        }
        if (newline < 0) break;
        take(end, true, text, false);
        at = end + 1;
        isWithinLine = false;
        newline = text.indexOf("\n", at);
      }
      seen = text.length;
      if (isOpen) undo = blocks.save();
      if (at < text.length) take(text.length, true, text, isOpen);
      if (!isOpen) {
        undo = () => {};
        at = text.length;
      }
      blocks.draw(isOpen);
    },
  };
}
