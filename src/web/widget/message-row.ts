/** A message as it is read: who wrote it, its text as a document, and what can be done with it. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { createCopyButton } from "./copy-button.ts";
import { h, makeFace, textButton } from "./dom.ts";
import type { Row } from "./log-rows.ts";
import type { LogScroll } from "./log-scroll.ts";
import { createMarkdownView, type MarkdownView } from "./markdown.ts";
import type { PanelHost } from "./panel-host.ts";
import { loadFeedback } from "./people.ts";
import type { Strings } from "./strings.ts";

/** How long nothing comes until that is said. */
const silenceMs = 5_000;

export function createRowMaker(
  chat: Chat,
  strings: Strings,
  announcer: Announcer,
  { lang, load }: PanelHost,
  scroll: LogScroll,
): (message: Message) => Row {
  const copyButton = (getText: () => string) => createCopyButton(strings, getText, () => announcer.say(strings.copied));
  const frame = (block: HTMLElement, getCode?: () => string) => {
    // Without the file, it is read all the same.
    load<typeof import("./markdown-frames.ts")>(FRAMES_FILE, FRAMES_INTEGRITY, "frames.js").then(
      ({ frameBlock }) => frameBlock(block, strings, getCode ? [copyButton(getCode)] : []),
      () => {},
    );
  };

  return (message) => {
    const { role, at } = message;
    const isUser = role === "user";
    const body = h("div", { class: isUser ? "body" : "body reply", dir: "auto" });
    const date = new Date(at);
    const isToday = date.toDateString() === new Date().toDateString();
    const time = date.toLocaleString(lang, { timeStyle: "short", dateStyle: isToday ? undefined : "medium" });
    const foot = h("div", { class: "foot" }, h("time", { datetime: date.toISOString() }, time));
    const { by } = message;
    const isPerson = by !== undefined;
    const name = by || (isUser ? strings.you : (chat.source.config?.name ?? strings.assistant));
    let markdown: MarkdownView;
    const begin = () => {
      body.replaceChildren();
      markdown = createMarkdownView(body, strings, frame);
    };
    begin();
    const dots = h("span", { class: "dots" });
    const delivery = isUser ? createDelivery(message, chat, strings) : null;
    let silence = 0;
    const reportSilence = () => {
      if (chat.isHeld) return;
      dots.textContent = strings.stillWorking;
      announcer.say(strings.stillWorking);
    };
    if (isUser) body.textContent = message.text;
    else foot.append(copyButton(() => message.text));
    let card: Promise<() => void> | undefined;
    let rating: Promise<() => void> | undefined;
    let drawn: { text: string; state: string; work: unknown } | null = null;
    const face = makeFace();
    const row = h(
      "div",
      { class: `row ${role}${isPerson ? " person" : ""}` },
      h(
        "div",
        { class: isUser ? "unseen" : "who" },
        ...(isUser ? [] : [by ? h("span", { class: "face", "aria-hidden": "true" }, [...by][0] ?? "") : face]),
        h("span", { class: isPerson ? "by" : "", dir: "auto" }, name),
        isPerson ? "" : h("span", { class: "unseen" }, ": "),
      ),
      body,
      foot,
      delivery?.element ?? "",
    );
    return {
      element: row,
      draw() {
        const { text, state, asks } = message;
        const isStreaming = state === "streaming";
        const work = isStreaming && message.work;
        row.dataset.state = state;
        delivery?.draw();
        const address = chat.source.config?.avatar_url;
        if (address && !face.src) face.src = address;
        face.hidden = !address;
        foot.hidden = isStreaming || !text;
        // What is kept for a person has no reply.
        body.hidden = (!isStreaming || chat.isHeld) && !text;
        if (asks) {
          card ??= load<typeof import("./confirm.ts")>(CONFIRM_FILE, CONFIRM_INTEGRITY, "confirm.js").then(
            ({ createCard }) => createCard(row, message, chat, strings, announcer),
          );
          // Without the file the decision waits: it is loaded again when something is drawn.
          card.then(
            (draw) => draw(),
            () => {
              card = undefined;
            },
          );
        }
        if (!isUser && !isPerson && !isStreaming && text && !message.isFinal && chat.source.config?.ratings) {
          rating ??= loadFeedback(load).then(({ addRating }) => addRating(foot, message, chat, strings, announcer));
          rating.then(
            (draw) => draw(),
            () => {
              rating = undefined;
            },
          );
        }
        if (isUser || (text === drawn?.text && state === drawn.state && work === drawn.work)) return;
        // Gone on with after an end, or replaced by another one.
        if (drawn && (drawn.state !== "streaming" || !text.startsWith(drawn.text))) begin();
        const now = { text, state, work };
        drawn = now;
        if (isStreaming) scroll.grow();
        dots.remove();
        markdown.update(isPerson ? toMarkdown(text) : text, isStreaming);
        dots.textContent = work ? strings[work] : "• • •";
        if (work || !text) body.append(dots);
        clearTimeout(silence);
        if (isStreaming && !text && !work) silence = window.setTimeout(reportSilence, silenceMs);
        if (isStreaming || !message.sources?.length) return;
        const redraw = (shown: string) => {
          begin();
          markdown.update(shown, false);
        };
        // Without the file the reply stays as it is: its footer says the same.
        load<typeof import("./sources.ts")>(SOURCES_FILE, SOURCES_INTEGRITY, "sources.js").then(
          ({ showSources }) => drawn === now && showSources(body, message, strings, redraw),
          () => {},
        );
      },
    };
  };
}

/** What people write is no Markdown: only its lines and addresses count. */
function toMarkdown(text: string): string {
  const parts = text.split(/(https?:\/\/\S+)/);
  return parts
    .map((part, at) => (at % 2 ? part : part.replace(/[!-/:-@[-`{-~]/g, "\\$&").replace(/ *\n/g, "  \n")))
    .join("");
}

/** The line that says a message was not delivered, or still waits, empty where there is nothing to say; and what draws it. */
function createDelivery(message: Message, chat: Chat, strings: Strings): { element: HTMLElement; draw(): void } {
  const element = h("div", { class: "delivery" });
  const retry = textButton("again", strings.retry, () => void chat.retry(message.id));
  const remove = textButton("again", strings.remove, () =>
    chat.change((kept) => kept.filter(({ id, state }) => id !== message.id || state !== "waiting")),
  );
  let drawn = "";

  return {
    element,
    draw() {
      const { state } = message;
      if (state === drawn) return;
      drawn = state;
      element.hidden = !/failed|waiting/.test(state);
      element.classList.toggle("over", state === "failed");
      element.replaceChildren(
        state === "failed" ? strings.notDelivered : strings.waitsToSend,
        " · ",
        state === "failed" ? retry : remove,
      );
    },
  };
}
