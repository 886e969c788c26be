/** The arguments of a call for people: names as words, values as text, and of long ones the beginning. */
import type { confirmEnglish } from "./confirm-strings.ts";
import { h } from "./dom.ts";

const maxShortLength = 200;
const maxShortRows = 8;
/** What lies deeper is shown as JSON. */
const maxDepth = 4;

/** Draws all of them, or their beginnings; returns whether something was left out. */
export function drawArguments(
  into: HTMLElement,
  given: unknown,
  strings: Pick<typeof confirmEnglish, "yes" | "no">,
  isWhole: boolean,
): boolean {
  let rows = 0;
  let isCut = false;

  const fits = () => {
    const hasRoom = isWhole || rows++ < maxShortRows;
    isCut ||= !hasRoom;
    return hasRoom;
  };

  function toText(value: unknown): string {
    if (value === true) return strings.yes;
    if (value === false) return strings.no;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    // What turns the direction could make something else of it.
    const plain = text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
    const characters = [...plain];
    if (isWhole || characters.length <= maxShortLength) return plain;
    isCut = true;
    return `${characters.slice(0, maxShortLength).join("")}…`;
  }

  function fillIn(target: HTMLElement, value: unknown, depth: number): HTMLElement {
    const isList = Array.isArray(value);
    const entries = typeof value === "object" && value && depth < maxDepth ? Object.entries(value) : [];
    if (!entries.length) {
      const isEmpty = value === null || value === "" || /^(\[\]|\{\})$/.test(JSON.stringify(value));
      target.append(h("bdi", {}, isEmpty ? "–" : toText(value)));
      return target;
    }
    const items: HTMLElement[] = [];
    for (const [name, part] of entries) {
      if (!fits()) break;
      const value = fillIn(h(isList ? "li" : "dd"), part, depth + 1);
      items.push(isList ? value : h("div", {}, h("dt", {}, h("bdi", {}, humanize(name))), value));
    }
    if (!items.length) target.textContent = "…";
    // Without bullets, some screen readers take it for no list.
    target.append(isList ? h("ul", { role: "list" }, ...items) : h("dl", {}, ...items));
    return target;
  }

  into.replaceChildren();
  if (Object.keys(Object(given)).length) fillIn(into, given, 0);
  return isCut;

  /** `order_id` and `orderId` as "Order id". */
  function humanize(name: string): string {
    const words = toText(name)
      .replace(/([a-z\d])([A-Z])(?![A-Z])/g, (_, before: string, after: string) => `${before} ${after.toLowerCase()}`)
      .replace(/[\s._-]+/g, " ")
      .trim();
    return words.charAt(0).toUpperCase() + words.slice(1) || name;
  }
}
