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
  /** What it took to draw the pieces one after the other; rejects where a pattern is let loose on more than a few characters. */
  measure(pieces: readonly string[]): Promise<MarkdownWork>;
}

/**
 * Inside the page: the methods that read strings and those that make nodes count what they do. A pattern counts nothing of
 * how often it goes back, so it may see no more than a bounded piece.
 */
const countWork = `(() => {
  const work = { characters: 0, nodes: 0 };
  const originals = [];
  function watch(owner, name, cost) {
    const original = owner[name];
    originals.push([owner, name, original]);
    owner[name] = function (...all) {
      const result = original.apply(this, all);
      cost(this, all, result);
      return result;
    };
  }
  const read = (name, cost) => watch(String.prototype, name, (text, all, result) => (work.characters += cost(text, all, result)));
  for (const name of ["charAt", "charCodeAt", "codePointAt", "at"]) read(name, () => 1);
  for (const name of ["slice", "substring", "trim", "trimStart", "trimEnd", "replaceAll", "split", "toLowerCase"]) {
    // Those that keep the whole of it look at the whole of it.
    read(name, (text, all, result) => 1 + (typeof result === "string" && name.startsWith("s") ? result.length : text.length));
  }
  const scanned = (text, [what, from = 0], found) => 1 + (found < 0 ? text.length - from : found - from + what.length);
  read("indexOf", scanned);
  read("includes", (text, all) => scanned(text, all, String.prototype.search.call.call("".indexOf, text, ...all)));
  read("lastIndexOf", (text, all, found) => text.length - Math.max(found, 0));
  for (const name of ["startsWith", "endsWith"]) read(name, (text, [what]) => what.length);
  for (const name of ["match", "matchAll", "search", "replace"]) read(name, (text) => text.length ** 2);
  watch(RegExp.prototype, "exec", (pattern, [text]) => {
    work.characters += text.length;
    if (text.length > 40) throw new Error(pattern + " was tried on " + text.length + " characters");
  });
  watch(RegExp.prototype, "test", (pattern, [text]) => {
    if (text.length > 40) throw new Error(pattern + " was tried on " + text.length + " characters");
  });
  watch(Document.prototype, "createElement", () => work.nodes++);
  for (const owner of [Element.prototype]) {
    for (const name of ["append", "before", "remove"]) watch(owner, name, (_, all) => (work.nodes += all.length + 1));
  }
  for (const name of ["remove", "before"]) watch(CharacterData.prototype, name, () => work.nodes++);
  return () => {
    for (const [owner, name, original] of originals) owner[name] = original;
    return work;
  };
})`;

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
    window.draw = (view, pieces, isOpen) => {
      let text = "";
      for (const piece of pieces) view.update((text += piece), true);
      view.update(text, isOpen);
    };
    window.render = (pieces, isOpen) => {
      const [into, view] = open();
      draw(view, pieces, isOpen);
      into.normalize();
      return into.innerHTML;
    };
    window.measure = (pieces) => {
      const [, view] = open();
      const stop = countWork();
      try {
        draw(view, pieces, false);
      } finally {
        var work = stop();
      }
      return work;
    };
  })()`);
  return {
    page,
    render: (pieces, isOpen = false) => page.evaluate(`render(${JSON.stringify(pieces)}, ${isOpen})`),
    measure: (pieces) => page.evaluate(`measure(${JSON.stringify(pieces)})`),
  };
}
