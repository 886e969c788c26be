/** What may be wider than its column, code and tables: an edge that shows that there is more, tools, and a sheet with all of it. */
import { h, iconButton, icons } from "./dom.ts";

/** Names of the buttons. */
export interface FrameWords {
  expand: string;
  shut: string;
}

const sheet = new CSSStyleSheet();
sheet.replaceSync(FRAMES_STYLE);

/** Gives a block its edges and its buttons: these tools, and one that shows it as large as the window has room for. */
export function frameBlock(block: HTMLElement, words: FrameWords, tools: HTMLElement[]): void {
  const root = block.getRootNode();
  const scroller = block.querySelector<HTMLElement>("pre, .scroll");
  const content = scroller?.firstElementChild;
  // Drawn again meanwhile.
  if (!(root instanceof Document || root instanceof ShadowRoot) || !scroller || !content) return;
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  const larger = iconButton("copy", icons.expand, words.expand, () => expand(block, words.shut));
  scroller[block.matches(".code") ? "before" : "after"](h("div", { class: "tools" }, ...tools, larger));
  const mark = () => {
    const moved = Math.abs(scroller.scrollLeft);
    scroller.toggleAttribute("data-moved", moved > 1);
    scroller.toggleAttribute("data-more", scroller.scrollWidth - scroller.clientWidth - moved > 1);
  };
  scroller.onscroll = mark;
  const observer = new ResizeObserver(mark);
  observer.observe(scroller);
  observer.observe(content);
}

/** Shows a copy of a block until it is closed. */
function expand(block: HTMLElement, label: string): void {
  const copy = block.cloneNode(true) as HTMLElement;
  copy.querySelector(".tools")?.remove();
  for (const scroller of copy.querySelectorAll("[data-more]")) scroller.removeAttribute("data-more");
  const name = block.querySelector("[aria-label]")?.getAttribute("aria-label") ?? "";
  const dialog = h("dialog", { class: "sheet", "aria-label": name });
  dialog.append(
    iconButton("copy", icons.close, label, () => dialog.close()),
    h("div", { class: "reply", dir: getComputedStyle(block).direction }, copy),
  );
  // Escape closes this alone, and not the panel around it.
  dialog.onkeydown = (event) => event.stopPropagation();
  dialog.onclose = () => dialog.remove();
  // On what is around it, too.
  dialog.onclick = ({ target }) => target === dialog && dialog.close();
  block.after(dialog);
  dialog.showModal();
}
