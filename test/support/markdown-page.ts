/** A page of a real browser that renders Markdown as the widget does, whole or streamed, and measures the work. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { launchBrowser } from "./browser.ts";

export interface MarkdownWork {
  /** Characters read, by any method of strings. */
  characters: number;
  /** Nodes created or moved. */
  nodes: number;
}

export interface MarkdownPage {
  page: Page;
  /** The final markup after pieces of a reply. `isOpen`: more could follow. */
  render(pieces: readonly string[], isOpen?: boolean): Promise<string>;
  /**
   * The work to render each piece in turn, and finally to end the reply. Rejects if a pattern runs on more than a few
   * characters.
   */
  measure(pieces: readonly string[]): Promise<MarkdownWork[]>;
  /** What a screen reader announces at each piece, and finally when the reply ends. */
  speak(pieces: readonly string[]): Promise<string[]>;
  /** Like `measure`, for reading aloud; its patterns continue from where they ended. */
  measureSpeech(pieces: readonly string[]): Promise<MarkdownWork[]>;
  close(): Promise<void>;
}

/**
 * Runs inside the page: instruments the methods that read strings and those that change the document. How often a
 * pattern backtracks cannot be counted, so patterns may only run on a few characters.
 */
const countWork = `(maxTried) => {
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
  const { exec } = RegExp.prototype;
  originals.push(() => (RegExp.prototype.exec = exec));
  RegExp.prototype.exec = function (text) {
    const from = this.global ? this.lastIndex : 0;
    if (text.length > maxTried) throw new Error(this + " was tried on " + text.length + " characters");
    const found = exec.call(this, text);
    work.characters += (found ? found.index + found[0].length : text.length) - from;
    return found;
  };
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

export async function openMarkdownPage(): Promise<MarkdownPage> {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  const modules = await Promise.all(["markdown", "markdown-speech"].map(bundle));
  await page.evaluate(`(async () => {
    const { createMarkdownView } = await import("${modules[0]}");
    const { createReader } = await import("${modules[1]}");
    const countWork = ${countWork};
    const words = { code: "Code block", table: "Table" };
    window.open = () => {
      const into = document.createElement("div");
      return [into, createMarkdownView(into, words)];
    };
    window.render = (pieces, isOpen) => {
      const [into, view] = open();
      let text = "";
      for (const piece of pieces) view.update((text += piece), true);
      view.update(text, isOpen);
      into.normalize();
      return into.innerHTML;
    };
    const counting = (maxTried, pieces, take) => {
      let text = "";
      return [...pieces, ""].map((piece, index) => {
        text += piece;
        const stop = countWork(maxTried);
        try {
          take(text, index < pieces.length);
          return stop();
        } finally {
          stop();
        }
      });
    };
    window.measure = (pieces) => {
      const [, view] = open();
      return counting(40, pieces, view.update);
    };
    window.measureSpeech = (pieces) => {
      const reader = createReader(words);
      return counting(Infinity, pieces, (text, isOpen) => reader.read(text, !isOpen));
    };
    window.speak = (pieces) => {
      const reader = createReader(words);
      let text = "";
      return [...pieces, ""].map((piece, index) => reader.read((text += piece), index === pieces.length));
    };
  })()`);
  return {
    page,
    close: () => page.close(),
    render: (pieces, isOpen = false) => page.evaluate(`render(${JSON.stringify(pieces)}, ${isOpen})`),
    measure: (pieces) => page.evaluate(`measure(${JSON.stringify(pieces)})`),
    speak: (pieces) => page.evaluate(`speak(${JSON.stringify(pieces)})`),
    measureSpeech: (pieces) => page.evaluate(`measureSpeech(${JSON.stringify(pieces)})`),
  };
}

/** The URL of a module of the widget. */
async function bundle(name: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, `../../src/web/widget/${name}.ts`)],
    target: "browser",
    format: "esm",
  });
  return `data:text/javascript;base64,${Buffer.from((await outputs[0]?.text()) ?? "").toString("base64")}`;
}
