/** Markdown inside a line: emphasis by stars, code, links. One pass over the text, whatever the text is. */
import { h } from "./dom.ts";

const linkPattern = /!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const addressPattern = /https?:\/\/[^\s<>"'`)\]}*]*[^\s<>"'`)\]}*.,;:!?]/iy;
const codePattern = /(`+)([^`]+)\1(?!`)/y;
const escapePattern = /\\([!-/:-@[-`{-~])/y;
const markPattern = /\*{1,3}|~~/y;
/** Words; or a run of backticks that began no code, taken whole: each of them would be tried in vain again. */
const plainPattern = /(?:[^\\`*~[!h\n]|h(?!ttps?:))+|`+/y;
const tags = { "**": "strong", "*": "em", "~~": "s" } as const;
type Mark = keyof typeof tags;

/** `isOpen`: more text may follow, so that a mark whose counterpart is not there yet counts all the same. */
export function renderInline<Element extends HTMLElement>(
  into: Element,
  text: string,
  isOpen: boolean,
  isInLink = false,
): Element {
  const open: { mark: Mark; element: HTMLElement }[] = [];
  let parent: HTMLElement = into;
  let at = 0;

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const close = (index: number) => {
    open.length = index;
    parent = open.at(-1)?.element ?? into;
  };
  /** Takes as much of a run of marks as means one thing; false where it means nothing. */
  const applyMark = (run: string): boolean => {
    const mark: Mark = run[0] === "~" ? "~~" : run.length > 1 ? "**" : "*";
    const top = open.at(-1)?.mark;
    if (/\S/.test(text[at - 1] ?? " ")) {
      // The innermost first, so that `***` ends both.
      const isTop = top && run.startsWith(top) && (top !== "*" || run.length !== 2);
      const index = isTop ? open.length - 1 : open.findIndex((entry) => entry.mark === mark);
      const closed = open[index];
      if (closed) {
        close(index);
        at += closed.mark.length;
        return true;
      }
    }
    const canOpen = /\S/.test(text[at + run.length] ?? "") && !open.some((entry) => entry.mark === mark);
    if (!canOpen || !(isOpen || text.lastIndexOf(mark) > at)) return false;
    const element = h(tags[mark]);
    parent.append(element);
    open.push({ mark, element });
    parent = element;
    at += mark.length;
    return true;
  };

  while (at < text.length) {
    const code = match(codePattern);
    const plain = code ? null : match(plainPattern) || match(escapePattern);
    const link = isInLink ? null : match(linkPattern);
    const address = isInLink || /\w/.test(text[at - 1] ?? "") ? null : match(addressPattern);
    if (code) parent.append(h("code", {}, code[2] ?? ""));
    if (plain) parent.append(plain[1] ?? plain[0]);
    if (link) {
      const [, label = "", target = ""] = link;
      parent.append(makeLink(target, (element) => renderInline(element, label || target, isOpen, true)));
    }
    if (address) parent.append(makeLink(address[0], (element) => element.append(address[0])));
    if (code || plain || link || address) continue;
    markPattern.lastIndex = at;
    const [run] = markPattern.exec(text) ?? [];
    if (run && applyMark(run)) continue;
    const char = text[at++] ?? "";
    parent.append(char === "\n" ? h("br") : char);
  }
  return into;
}

const schemes = /^(https?|mailto|tel):$/;

/** A link to an allowed kind of address, or the same text without one. Images too become links: none is loaded. */
export function makeLink(address: string, fillIn: (element: HTMLElement) => void): HTMLElement {
  let url: URL | null = null;
  try {
    url = new URL(address, document.baseURI);
  } catch {
    // No address at all.
  }
  const element =
    url && schemes.test(url.protocol)
      ? h("a", { href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer nofollow" })
      : h("span");
  fillIn(element);
  return element;
}
