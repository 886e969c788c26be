/** Keeps the panel within what an on-screen keyboard leaves of the window. */

/** Less than this is a scroll bar or a rounding, and no keyboard. */
const leastKeyboardHeight = 80;

/** Tells the style sheet by variables of the root; `changed` once it knows. */
export function followViewport(root: HTMLElement, changed: () => void, signal: AbortSignal): void {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    // Zoomed in, the visitor looks at a part of all that: it stays where it is.
    if (view.scale > 1.01) return;
    const covered = window.innerHeight - view.height - view.offsetTop;
    root.style.setProperty("--view-top", `${view.offsetTop}px`);
    root.style.setProperty("--view-height", `${view.height}px`);
    root.style.setProperty("--keyboard", `${covered < leastKeyboardHeight ? 0 : covered}px`);
    changed();
  };
  for (const event of ["resize", "scroll"]) view.addEventListener(event, follow, { signal });
  follow();
}
