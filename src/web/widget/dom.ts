/** Makes elements by name: no markup is ever parsed, and nothing executable can be set. */

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element: Element, attributes: Record<string, string | number | boolean>): void {
  for (const name in attributes) element.setAttribute(name, String(attributes[name]));
}

/** The companion's picture, which goes where it does not come. */
export function makeFace(): HTMLImageElement {
  const face = h("img", { alt: "", referrerpolicy: "no-referrer" });
  face.onerror = () => face.remove();
  return face;
}

/** A button with its name on it. */
export function textButton(className: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = h("button", { type: "button", class: className }, label);
  button.onclick = onClick;
  return button;
}

/** A button with an icon alone. */
export function iconButton(className: string, path: string, label: string, onClick: () => void): HTMLButtonElement {
  const button = textButton(className, "", onClick);
  dressButton(button, path, label);
  return button;
}

/** Gives a button a stroked icon on a 24-unit grid, and an accessible name. */
export function dressButton(button: HTMLButtonElement, path: string, label: string): void {
  const space = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "path");
  setAttributes(icon, { viewBox: "0 0 24 24", "aria-hidden": "true" });
  setAttributes(line, { d: path });
  setAttributes(button, { "aria-label": label, title: label });
  icon.append(line);
  button.replaceChildren(icon);
}

export const icons = {
  chat: "M21 12a8 8 0 0 1-8 8H4l1.6-3.2A8 8 0 1 1 21 12z",
  close: "M6 6l12 12M18 6 6 18",
  down: "M6 9l6 6 6-6",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  expand: "M14 5h5v5M10 19H5v-5M19 5l-6 6M5 19l6-6",
  check: "M5 12l5 5 9-9",
  microphone: "M9 6a3 3 0 0 1 6 0v5a3 3 0 0 1-6 0zM6 11a6 6 0 0 0 12 0M12 17v4",
};
