/** What may be wider than its column, code and tables: an edge that shows that there is more, and a sheet with all of it. */
import { h } from "./dom.ts";

/** Marks the element while it is scrolled away from its start, and while there is more behind its end. */
export function markEdges(scroller: HTMLElement, content: HTMLElement): void {
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

/** Shows a copy of a block as large as the window has room for, until it is closed. */
export function expand(block: HTMLElement, closeButton: (close: () => void) => HTMLElement): void {
  const copy = block.cloneNode(true) as HTMLElement;
  copy.querySelector(".tools")?.remove();
  for (const scroller of copy.querySelectorAll("[data-more]")) scroller.removeAttribute("data-more");
  const dialog = h("dialog", { class: "sheet", "aria-label": block.getAttribute("aria-label") ?? "" });
  const body = h("div", { class: "reply", dir: getComputedStyle(block).direction }, copy);
  dialog.append(
    closeButton(() => dialog.close()),
    body,
  );
  // Escape closes this alone, and not the panel around it.
  dialog.onkeydown = (event) => event.stopPropagation();
  dialog.onclose = () => dialog.remove();
  // On what is around it, too.
  dialog.onclick = ({ target }) => target === dialog && dialog.close();
  block.after(dialog);
  dialog.showModal();
}
