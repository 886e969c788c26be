/** Where the log stands: a question at its top while the answer grows below, else the end. Readers are never moved. */
import { h, iconButton, icons } from "./dom.ts";

export interface LogScroll {
  /** The visitor has asked, with this row. */
  ask(row: HTMLElement): void;
  /** Something new is at the end, and begins with this row: it is followed as far as its beginning stays in sight. */
  come(row: HTMLElement): void;
  /** Another conversation is shown: its end, or its beginning where nothing was said. */
  begin(isEmpty: boolean): void;
  /** More of what is there has come: it is shown by the button where it is out of sight. */
  grow(): void;
  /** What `change` adds above does not move what the visitor reads. */
  keep(row: HTMLElement, change: () => void): void;
  close(): void;
}

/** Above what is at the top, in pixels. */
const gap = 12;
/** As much of the end may be hidden, and counts as seen. */
const slack = 8;

/** `content` grows within `log`, which scrolls; `label` names the button that leads to the end. */
export function createLogScroll(log: HTMLElement, content: HTMLElement, label: string): LogScroll {
  const button = iconButton("to-end", icons.down, label, () => {
    pin = "end";
    glide();
    // The button goes.
    log.focus({ preventScroll: true });
  });
  /** Empty, as high as the last question needs to come to the top. */
  const tail = h("div");
  log.append(content, h("div", { class: "below" }, button), tail);
  let asked: HTMLElement | null = null;
  /** What is kept in sight; null: the visitor has scrolled elsewhere. */
  let pin: HTMLElement | "end" | null = null;
  let target = 0;
  /** How far it still is to there. */
  let away = 0;
  /** Where the visitor was: a log that is hidden forgets that. */
  let seenAt = 0;
  let isGliding = false;
  let hasNew = false;

  const findEnd = () => log.scrollHeight - log.clientHeight;

  /** How high the tail must be, and where the log has to stand. */
  function aim(): void {
    if (!asked?.isConnected) asked = null;
    // The log has the same padding below.
    const { offsetTop, offsetHeight } = content;
    const free = asked ? asked.offsetTop - gap + log.clientHeight - offsetHeight - 2 * offsetTop : 0;
    tail.style.height = `${Math.max(0, free)}px`;
    const end = findEnd();
    if (pin instanceof HTMLElement && !pin.isConnected) pin = "end";
    target = pin instanceof HTMLElement ? Math.min(end, Math.max(0, pin.offsetTop - gap)) : pin ? end : seenAt;
  }

  function glide(): void {
    aim();
    away = Math.abs(log.scrollTop - target);
    isGliding = away > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    log.scrollTo({ top: target, behavior: isGliding ? "smooth" : "instant" });
  }

  /** With every change of a size, before that is painted. */
  function settle(): void {
    if (!log.clientHeight) return;
    const aimed = target;
    aim();
    if (isGliding) {
      if (aimed !== target) glide();
      // A log that was hidden begins at its top.
    } else if ((pin || !log.scrollTop) && Math.abs(log.scrollTop - target) >= 1) log.scrollTop = target;
    mark();
  }

  function mark(): void {
    const isOut = content.offsetTop + content.offsetHeight - log.scrollTop - log.clientHeight > slack * 4;
    hasNew &&= isOut;
    button.hidden = !isOut;
    button.classList.toggle("new", hasNew);
  }

  const leave = () => {
    if (isGliding) pin = null;
    isGliding = false;
  };
  for (const sign of ["wheel", "touchmove"]) log.addEventListener(sign, leave, { passive: true });
  log.onscroll = () => {
    if (!log.clientHeight) return;
    seenAt = log.scrollTop;
    const left = Math.abs(seenAt - target);
    // Until then it only becomes less.
    if (left > away + 1) pin = null;
    away = pin ? left : 0;
    if (left <= 1 || !pin) isGliding = false;
    if (!pin && findEnd() - seenAt <= slack) pin = tail.offsetHeight ? asked : "end";
    mark();
  };
  const observer = new ResizeObserver(settle);
  observer.observe(log);
  observer.observe(content);

  return {
    ask(row) {
      asked = pin = row;
      hasNew = false;
      glide();
    },
    come(row) {
      hasNew = true;
      // The question stays at the top of its answer.
      if (button.hidden && !(asked && row.previousElementSibling === asked)) pin = row;
      settle();
    },
    begin(isEmpty) {
      asked = null;
      pin = isEmpty ? null : "end";
      if (isEmpty) log.scrollTop = seenAt = 0;
      settle();
    },
    grow() {
      hasNew = true;
    },
    keep(row, change) {
      const before = row.offsetTop - log.scrollTop;
      change();
      // Nothing where the browser has done so.
      if (!pin) log.scrollTop = row.offsetTop - before;
    },
    close: () => observer.disconnect(),
  };
}
