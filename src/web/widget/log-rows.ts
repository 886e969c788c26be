/** The rows of messages: the last ones are drawn immediately, those before as the browser has time for them. */
import type { Message } from "./conversation.ts";
import type { LogScroll } from "./log-scroll.ts";

export interface Row {
  element: HTMLElement;
  draw(): void;
}

export interface Rows {
  /** Draws what has changed; returns whether there are any. */
  draw(messages: Message[]): void;
  /** Draws this one, where it has a row. */
  drawOne(message: Message): void;
  close(): void;
}

/** More than fill any screen. */
const drawnFirst = 30;
const drawnLater = 10;

export function createRows(list: HTMLElement, scroll: LogScroll, makeRow: (message: Message) => Row): Rows {
  const rows = new Map<Message, Row>();
  let all: Message[] = [];
  let isBusy = false;

  const findFirst = () => all.findIndex((message) => rows.has(message));

  function add(message: Message): Row {
    const row = makeRow(message);
    rows.set(message, row);
    return row;
  }

  function drawEarlier(): void {
    const first = findFirst();
    const top = list.firstElementChild;
    isBusy = first > 0 && !!top;
    if (!isBusy) return;
    scroll.keep(top as HTMLElement, () => {
      for (const message of all.slice(Math.max(0, first - drawnLater), first).reverse()) {
        const row = add(message);
        list.prepend(row.element);
        row.draw();
      }
    });
    whenIdle(drawEarlier);
  }

  return {
    draw(messages) {
      all = messages;
      const kept = new Set(messages);
      const had = rows.size;
      for (const [message, row] of rows) {
        if (kept.has(message)) continue;
        row.element.remove();
        rows.delete(message);
      }
      const isFresh = !rows.size;
      const first = isFresh ? Math.max(0, messages.length - drawnFirst) : findFirst();
      /** Of what is new at the end. */
      let asked: Row | undefined;
      let came: Row | undefined;
      for (const [index, message] of messages.slice(first).entries()) {
        const known = rows.get(message);
        const row = known ?? add(message);
        // Another tab's message can come before one of this.
        if (list.children[index] !== row.element) list.insertBefore(row.element, list.children[index] ?? null);
        row.draw();
        if (known) asked = came = undefined;
        else if (message.role === "user") asked = row;
        else came ??= row;
      }
      const isUnderWay = /streaming|waiting/.test(messages.at(-1)?.state ?? "");
      if (isFresh && !isUnderWay) {
        if (had || messages.length) scroll.begin(!messages.length);
      } else if (asked) scroll.ask(asked.element);
      else if (came) scroll.come(came.element);
      if (first > 0 && !isBusy) {
        isBusy = true;
        whenIdle(drawEarlier);
      }
    },
    drawOne: (message) => rows.get(message)?.draw(),
    close() {
      all = [];
    },
  };
}

// Safari has no idle callbacks.
const whenIdle = (act: () => void) => (globalThis.requestIdleCallback ?? setTimeout)(act);
