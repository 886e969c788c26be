/** A page of a real browser that draws Markdown as the widget does, whole or as it streams, and tells what that took. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { openPage } from "./browser.ts";

export interface MarkdownWork {
  /** Characters that were read, by whatever of a string's methods. */
  characters: number;
  /** Nodes that were made or moved. */
  nodes: number;
}

export interface MarkdownPage {
  page: Page;
  /** The markup that pieces of a reply end as. `isOpen`: more could follow. */
  render(pieces: readonly string[], isOpen?: boolean): Promise<string>;
  /**
   * What it took to draw each of the pieces, one after the other, and at last to end the reply. Rejects where a pattern is
   * let loose on more than a few characters.
   */
  measure(pieces: readonly string[]): Promise<MarkdownWork[]>;
}

/**
 * Inside the page: the methods that read strings and those that change the document count what they do. How often a pattern
 * goes back over a text nobody can count, so it may be tried on a few characters only.
 */
const countWork = `() => {
  const work = { characters: 0, nodes: 0 };
  const originals = [];
  function watch(owner, name, note) {
    const original = owner[name];
    originals.push(() => (owner[name] = original));
    owner[name] = function (...all) {
      const result = original.apply(this, all);
      note(this, all, result);
      return result;
    };
  }
  const reads = (names, cost) => {
    for (const name of names) watch(String.prototype, name, (...call) => (work.characters += cost(...call)));
  };
  const { indexOf } = String.prototype;
  const length = (text, what, from = 0) => {
    const found = indexOf.call(text, what, from);
    return (found < 0 ? text.length : found + what.length) - from;
  };
  reads(["charAt", "charCodeAt", "codePointAt", "at"], () => 1);
  reads(["slice", "substring"], (text, all, result) => result.length);
  reads(["indexOf", "includes"], (text, all) => length(text, ...all));
  reads(["startsWith", "endsWith"], (text, [what]) => what.length);
  reads(["trim", "trimStart", "trimEnd", "replaceAll", "split", "lastIndexOf"], (text) => text.length);
  watch(RegExp.prototype, "exec", (pattern, [text]) => {
    work.characters += text.length;
    if (text.length > 40) throw new Error(pattern + " was tried on " + text.length + " characters");
  });
  watch(Document.prototype, "createElement", () => work.nodes++);
  for (const owner of [Element.prototype, CharacterData.prototype]) {
    for (const name of ["append", "before", "remove"]) {
      if (owner[name]) watch(owner, name, (_, all) => (work.nodes += Math.max(1, all.length)));
    }
  }
  return () => {
    for (const restore of originals) restore();
    return work;
  };
}`;

export async function openMarkdownPage(browser: Browser): Promise<MarkdownPage> {
  const { page } = await openPage(browser);
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/web/widget/markdown.ts")],
    target: "browser",
    format: "esm",
  });
  const module = `data:text/javascript;base64,${Buffer.from((await outputs[0]?.text()) ?? "").toString("base64")}`;
  await page.evaluate(`(async () => {
    const { createMarkdownView } = await import("${module}");
    const countWork = ${countWork};
    const words = { code: "Code block", table: "Table" };
    window.open = () => {
      const into = document.createElement("div");
      return [into, createMarkdownView(into, words, () => document.createElement("button"))];
    };
    window.render = (pieces, isOpen) => {
      const [into, view] = open();
      let text = "";
      for (const piece of pieces) view.update((text += piece), true);
      view.update(text, isOpen);
      into.normalize();
      return into.innerHTML;
    };
    window.measure = (pieces) => {
      const [, view] = open();
      let text = "";
      return [...pieces, ""].map((piece, index) => {
        text += piece;
        const stop = countWork();
        try {
          view.update(text, index < pieces.length);
          return stop();
        } finally {
          stop();
        }
      });
    };
  })()`);
  return {
    page,
    render: (pieces, isOpen = false) => page.evaluate(`render(${JSON.stringify(pieces)}, ${isOpen})`),
    measure: (pieces) => page.evaluate(`measure(${JSON.stringify(pieces)})`),
  };
}
