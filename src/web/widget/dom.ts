/** Makes elements by name: no markup is ever parsed, and nothing executable can be set. */

export type Child = Node | string | null | false | undefined;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number | boolean | null> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  for (const child of children) if (child) element.append(child);
  return element;
}

export function setAttributes(element: Element, attributes: Record<string, string | number | boolean | null>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

const svg = "http://www.w3.org/2000/svg";

/** An icon of 24 units, drawn with strokes. */
export function icon(path: string): SVGElement {
  const root = document.createElementNS(svg, "svg");
  setAttributes(root, { viewBox: "0 0 24 24", "aria-hidden": "true" });
  const line = document.createElementNS(svg, "path");
  line.setAttribute("d", path);
  root.append(line);
  return root;
}

/** A button with an icon alone, named for those who cannot see it. */
export function iconButton(name: string, path: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: name }, icon(path));
  labelButton(button, label);
  button.onclick = onClick;
  return button;
}

export function labelButton(button: HTMLButtonElement, label: string): void {
  setAttributes(button, { "aria-label": label, title: label });
}

export function textButton(name: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: name }, label);
  button.onclick = onClick;
  return button;
}

export const icons = {
  chat: "M21 12a8 8 0 0 1-8 8H4l1.6-3.2A8 8 0 1 1 21 12z",
  close: "M6 6l12 12M18 6 6 18",
  down: "M6 9.5l6 6 6-6",
  plus: "M12 20h9M16.5 3.5a2.1 2.1 0 0 1 3 3L7 19l-4 1 1-4z",
  send: "M12 19V5M5.5 11.5 12 5l6.5 6.5",
  stop: "M8 8h8v8H8z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5l4.5 4.5L19 7.5",
  microphone: "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4",
};
