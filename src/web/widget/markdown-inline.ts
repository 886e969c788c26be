/** Markdown inside a line: emphasis, code, links. One pass over the text, whatever the text is. */
import { h } from "./dom.ts";

const linkPattern = /!?\[((?:[^[\]\\]|\\.)*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/y;
const addressPattern = /<?(https?:\/\/[^\s<>"'`)\]}*]*[^\s<>"'`)\]}*.,;:!?])>?/iy;
const codePattern = /(`+)([^`]+)\1(?!`)/y;
const plainPattern = /[^\\`*_~[!<h\n]+/y;
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
  const lastClose = findLastCloses(text);
  let parent: Node = into;
  let plain = "";
  let at = 0;

  const flush = () => {
    if (plain) parent.appendChild(document.createTextNode(plain));
    plain = "";
  };
  const append = (node: Node) => {
    flush();
    parent.appendChild(node);
  };
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const close = (index: number) => {
    flush();
    open.length = index;
    parent = open.at(-1)?.element ?? into;
  };
  const applyMark = (run: string): number => {
    const mark: Mark = run[0] === "~" ? "~~" : run.length > 1 ? "**" : "*";
    const top = open.at(-1)?.mark;
    if (canClose(text, at)) {
      // The innermost first, so that `***` ends both.
      if (top && run.startsWith(top) && (top !== "*" || run.length !== 2)) {
        close(open.length - 1);
        return top.length;
      }
      const index = open.findIndex((entry) => entry.mark === mark);
      if (index >= 0) {
        close(index);
        return mark.length;
      }
    }
    const isOpening = canOpen(text, at, run.length) && !open.some((entry) => entry.mark === mark);
    if (!isOpening || !(isOpen || lastClose[mark] > at)) return 0;
    const element = h(tags[mark]);
    append(element);
    open.push({ mark, element });
    parent = element;
    return mark.length;
  };

  while (at < text.length) {
    const char = text[at] ?? "";
    const words = match(plainPattern);
    if (words) {
      plain += words[0];
      continue;
    }
    const code = char === "`" ? match(codePattern) : null;
    if (code) {
      append(h("code", {}, code[2] ?? ""));
      continue;
    }
    const link = !isInLink && (char === "[" || char === "!") ? match(linkPattern) : null;
    if (link) {
      const [, label = "", target = ""] = link;
      append(makeLink(target, (element) => renderInline(element, label || target, isOpen, true)));
      continue;
    }
    const isAddressStart = (char === "<" || char === "h") && !/\w/.test(text[at - 1] ?? "");
    const [, address] = (!isInLink && isAddressStart && match(addressPattern)) || [];
    if (address) {
      append(makeLink(address, (element) => element.append(address)));
    } else if (char === "\n") {
      append(h("br"));
      at++;
    } else if (char === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else {
      // A run of backticks that began no code is taken whole: each of them would be tried in vain again.
      const run = match(/`+/y)?.[0];
      const mark = run ? "" : /^(?:\*{1,3}|_{1,3}|~~)/.exec(text.slice(at, at + 3))?.[0].replaceAll("_", "*");
      const taken = mark ? applyMark(mark) : 0;
      if (!taken) plain += run ?? char;
      if (!run) at += taken || 1;
    }
  }
  flush();
  return into;
}

function canOpen(text: string, at: number, length: number): boolean {
  // Underscores and stars inside words are names more often than emphasis.
  if (text[at] === "_" && /\w/.test(text[at - 1] ?? "")) return false;
  return /\S/.test(text[at + length] ?? "");
}

function canClose(text: string, at: number): boolean {
  if (text[at] === "_" && /[^\W_]/.test(text[at + 1] ?? "")) return false;
  return at > 0 && /\S/.test(text[at - 1] ?? "");
}

/** Where each mark could end for the last time: known beforehand, so that no search is ever repeated. */
function findLastCloses(text: string): Record<Mark, number> {
  const last = { "**": -1, "*": -1, "~~": -1 };
  for (let at = 1; at < text.length; at++) {
    const char = text[at];
    if ((char !== "*" && char !== "_" && char !== "~") || !canClose(text, at)) continue;
    const isDouble = text[at + 1] === char;
    if (char === "~") {
      if (isDouble) last["~~"] = at;
    } else {
      last["*"] = at;
      if (isDouble) last["**"] = at;
    }
  }
  return last;
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
