/** Markdown inside a paragraph: emphasis, code, links, line breaks, entities. One pass over the text, whatever the text is. */
import { h } from "./dom.ts";
import { isPunctuation, readEntity, resolve } from "./markdown-entities.ts";
import { isSpace, skipRun, skipSpace } from "./markdown-lines.ts";

/**
 * How far ahead the end of anything may be: of a link, of code, of emphasis. What ends later is text as it stands. So the
 * beginning of a long paragraph is settled while its end still streams in.
 */
export const reach = 2000;
/** How much of a link that has yet to end is held back. */
const maxHeld = 300;

/** Up to where a paragraph is drawn for good, and the last node of that. */
export interface Drawn {
  at: number;
  last: Node | null;
}

interface InlineOptions {
  /** Where to go on; moved along as far as `limit` allows. */
  drawn?: Drawn;
  /** What stands before it will not change, nor will what stands within `reach` behind it. */
  limit?: number;
  isInLink?: boolean;
}

const tags = { "**": "strong", "*": "em", __: "strong", _: "em", "~~": "s" } as const;
type Mark = keyof typeof tags;

const isWordCharacter = (char: string): boolean => /[\p{L}\p{N}_]/u.test(char);

/**
 * `isOpen`: more text may follow, so that a mark whose counterpart is not there yet counts all the same, and one whose
 * own end may be missing waits.
 */
export function renderInline<Element extends HTMLElement>(
  into: Element,
  text: string,
  isOpen: boolean,
  { drawn = { at: 0, last: null }, limit = 0, isInLink = false }: InlineOptions = {},
): Element {
  /** At most one of each mark, the outermost first. */
  const open: { mark: Mark; at: number; element: HTMLElement }[] = [];
  let parent: HTMLElement = into;
  let { at } = drawn;

  const add = (node: Node | string, length: number): true => {
    parent.append(node);
    at += length;
    return true;
  };
  /** What is open from here on stays: where its mark was `closed`, as an element, else as text with the mark. */
  const settle = (index: number, isClosed: boolean): void => {
    for (const [depth, { mark, element }] of open.splice(index).entries()) {
      if (depth === 0 && isClosed) continue;
      element.before(mark);
      while (element.firstChild) element.before(element.firstChild);
      element.remove();
    }
    parent = open.at(-1)?.element ?? into;
  };

  /** What more text may make a mark of is not drawn yet. */
  const hold = (): true => {
    at = text.length;
    return true;
  };
  const isAtEnd = (end: number) => isOpen && end >= text.length;

  function readMarks(char: string): true {
    const end = skipRun(text, at, at + reach);
    const [before, after] = [text.charAt(at - 1), text.charAt(end)];
    // Inside a word an underscore is part of it.
    const isWord = char === "_";
    const mayClose = !isSpace(before || " ") && !(isWord && isWordCharacter(after));
    const mayOpen = !isSpace(after || " ") && !(isWord && isWordCharacter(before));
    // Four or more are a blank to fill in, not emphasis.
    if (end - at > 3 || before === char) return add(text.slice(at, end), end - at);
    while (at < end) {
      const run = text.slice(at, end);
      const mark = (run.length > 1 ? char + char : char) as Mark;
      const top = open.at(-1)?.mark;
      // The innermost first, so that `***` ends both.
      const isTop = top && run.startsWith(top) && (top.length > 1 || run.length !== 2);
      const index = isTop ? open.length - 1 : open.findIndex((entry) => entry.mark === mark);
      const closed = open[index];
      if (mayClose && closed) {
        settle(index, true);
        at += closed.mark.length;
      } else if (mayOpen && mark in tags && !open.some((entry) => entry.mark === mark)) {
        const element = h(tags[mark]);
        parent.append(element);
        open.push({ mark, at, element });
        parent = element;
        at += mark.length;
      } else {
        if (isAtEnd(end) && mark in tags) return hold();
        add(run, run.length);
      }
    }
    return true;
  }

  function readCode(): true {
    const inside = skipRun(text, at, at + 9);
    const mark = text.slice(at, inside);
    let end = inside;
    while (end < text.length && end < at + reach && text.charAt(end) !== "`") end++;
    const isClosed = text.slice(end, skipRun(text, end, end + 9)) === mark;
    if (!isClosed && isAtEnd(skipRun(text, end, end + 9)))
      return end === inside ? hold() : add(h("code", {}, text.slice(inside, end)), text.length - at);
    if (end === inside || !isClosed) return add(mark, mark.length);
    return add(h("code", {}, text.slice(inside, end)), end + mark.length - at);
  }

  /** `[1]`, which stands for a source where the reply has any. */
  function readMarker(from: number): boolean {
    const [marker, n = ""] = /^\[(\d{1,3})\]/.exec(text.slice(at, from + 5)) ?? [];
    return !!marker && add(h("span", { class: "mark", "data-n": n }, marker), marker.length);
  }

  /** `[label](target "title")`; `from` is at the bracket. */
  function readLink(from: number): boolean {
    const stop = Math.min(text.length, at + reach);
    const skipTo = (ends: string, start: number): number => {
      let end = start;
      while (end < stop && !ends.includes(text.charAt(end))) end += text.charAt(end) === "\\" ? 2 : 1;
      return end;
    };
    const labelEnd = isInLink ? from : skipTo("[]", from + 1);
    // As long as a name of something may be: a bracket that stays open must not hide what follows.
    const isHeld = (next: number) => isAtEnd(next) && text.length - from < maxHeld && text.indexOf("\n", from) < 0;
    if (isHeld(labelEnd + 1)) return hold();
    if (!text.startsWith("](", labelEnd)) return readMarker(from);
    const label = text.slice(from + 1, labelEnd);
    let start = skipSpace(text, labelEnd + 2, stop);
    const isAngled = text.charAt(start) === "<";
    if (isAngled) start++;
    let end = isAngled ? skipTo("<>\n", start) : start;
    for (let isWithin = false; end < stop && !isAngled; end++) {
      const char = text.charAt(end);
      // One pair of parentheses may be part of the address.
      if (isSpace(char) || "<>".includes(char) || char === (isWithin ? "(" : ")")) break;
      if ("()".includes(char)) isWithin = !isWithin;
    }
    if (isAngled && text.charAt(end) !== ">") return false;
    const target = resolve(text.slice(start, end));
    end = skipSpace(text, isAngled ? end + 1 : end, stop);
    const quote = text.charAt(end);
    if (/["']/.test(quote)) end = skipSpace(text, skipTo(quote, end + 1) + 1, stop);
    if (isHeld(end)) return hold();
    if (text.charAt(end) !== ")" || end >= stop) return false;
    const fillIn = (element: HTMLElement) => renderInline(element, label || target, false, { isInLink: true });
    return add(makeLink(target, fillIn), end + 1 - at);
  }

  function readAddress(): boolean {
    if (isInLink || /[a-z\d]/i.test(text.charAt(at - 1)) || !/^https?:\/\//.test(text.slice(at, at + 8))) return false;
    const start = text.indexOf("/", at) + 2;
    let end = start;
    for (let isWithin = false; end < text.length && end < at + reach; end++) {
      const char = text.charAt(end);
      if (isSpace(char) || "<>\"'`]}*。，、；：！？）」』】》".includes(char) || (char === ")" && !isWithin)) break;
      if ("()".includes(char)) isWithin = char === "(";
    }
    while (end > start && ".,;:!?_~".includes(text.charAt(end - 1))) end--;
    if (end === start) return false;
    const address = resolve(text.slice(at, end));
    return add(
      makeLink(address, (element) => element.append(address)),
      end - at,
    );
  }

  function readBreak(): boolean {
    const [found] = /^<br ?\/?>\n?/i.exec(text.slice(at, at + 7)) ?? [];
    return !!found && add(h("br"), found.length);
  }

  function readSpecial(char: string): boolean {
    if (char === "\n") return add(h("br"), 1);
    if (char === "`") return readCode();
    if ("*_~".includes(char)) return readMarks(char);
    if (char === "<" && readBreak()) return true;
    if (char === "[") return readLink(at);
    if (char === "!") return text.charAt(at + 1) === "[" && readLink(at + 1);
    if (char === "h") return readAddress();
    if ("\\&<".includes(char) && isOpen && isHalf(text, at)) return hold();
    if (char === "\\" && isPunctuation(text.charAt(at + 1))) return add(text.charAt(at + 1), 2);
    const entity = char === "&" && readEntity(text, at);
    return !!entity && add(entity.char, entity.length);
  }

  while (at < text.length) {
    if (open[0] && at - open[0].at > reach) settle(0, false);
    if (at <= limit && !open.length) {
      drawn.at = at;
      drawn.last = into.lastChild;
    }
    if (readSpecial(text.charAt(at))) continue;
    let end = at + 1;
    while (end < text.length && end < at + reach && !isSpecial(text, end)) end++;
    add(text.slice(at, end), end - at);
  }
  if (!isOpen) settle(0, false);
  return into;
}

/** Whether an escape, an entity or a line break has begun here, and the text ends within it. */
function isHalf(text: string, at: number): boolean {
  return /^(\\|&#?\w*|<(b(r ?\/?)?)?)$/i.test(text.slice(at, at + 12));
}

/** Whether something other than text may begin here. */
function isSpecial(text: string, at: number): boolean {
  const char = text.charAt(at);
  return char === "h" ? text.startsWith("http", at) : "\n`*_~<[!\\&".includes(char);
}

const schemes = /^(https?|mailto|tel):$/;

/** A link to an allowed kind of address, or the same text without one. Images too become links: none is loaded. */
export function makeLink(address: string, fillIn: (element: HTMLElement) => void): HTMLElement {
  let url: URL | null = null;
  try {
    url = new URL(address, document.baseURI);
  } catch {
    // Not a URL at all.
  }
  const element =
    url && schemes.test(url.protocol)
      ? h("a", { href: url.href, title: url.href, target: "_blank", rel: "noopener noreferrer nofollow" })
      : h("span");
  fillIn(element);
  return element;
}
