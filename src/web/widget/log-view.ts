/** The conversation as it is read: greeting, messages, suggested questions, and what went wrong. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { dressButton, h, iconButton, icons, textButton } from "./dom.ts";
import { createRows, type Row } from "./log-rows.ts";
import { createLogScroll } from "./log-scroll.ts";
import { createMarkdownView, type MarkdownView } from "./markdown.ts";
import { makeLink } from "./markdown-inline.ts";
import type { PanelHost } from "./panel-host.ts";
import { loadFeedback } from "./people.ts";
import { allowsChat, canRetry, describe, isLimit } from "./problem.ts";
import { english, fill, type Strings } from "./strings.ts";

export interface LogView {
  element: HTMLElement;
  /** Draws what has changed: of this message alone, where one is given. */
  draw(message?: Message): void;
  /** Stops its timers. */
  close(): void;
}

export function createLogView(
  chat: Chat,
  strings: Strings,
  announcer: Announcer,
  { lang, privacyUrl, load }: PanelHost,
): LogView {
  const { say } = announcer;
  const link = privacyUrl ? makeLink(privacyUrl, (into) => into.append(strings.privacy)) : "";
  // Present before the configuration is known: a message can already be written.
  const disclosure = h("p", { class: "disclosure" }, `${strings.disclosure} `, link);
  const intro = h("div", { class: "intro" }, disclosure);
  const list = h("div");
  const sentence = h("span");
  const retry = textButton("retry", strings.retry, () => void chat.retry());
  const notice = h("div", { class: "notice" }, sentence, retry);
  const previous = textButton("previous", strings.previous, () => {
    chat.goBack();
    say(strings.conversation);
  });
  const element = h("div", {
    class: "log",
    role: "log",
    // Not live by itself: the announcer speaks by the sentence.
    "aria-live": "off",
    tabindex: 0,
    "aria-label": strings.conversation,
  });
  const scroll = createLogScroll(element, h("div", { class: "lines" }, previous, intro, list, notice), strings.latest);
  const rows = createRows(list, scroll, makeRow);
  let greeted: unknown;
  let starters: HTMLElement;
  let told = "";
  let timer = 0;

  function copyButton(getText: () => string): HTMLElement {
    const button = iconButton("copy", icons.copy, strings.copy, async () => {
      // Refused in some frames, absent on plain HTTP: then the button does not say that it copied.
      await navigator.clipboard.writeText(getText());
      dressButton(button, icons.check, strings.copied);
      say(strings.copied);
    });
    return button;
  }

  function makeRow(message: Message): Row {
    const { role, at } = message;
    const isUser = role === "user";
    const body = h("div", { class: "body", dir: "auto" });
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
      markdown = createMarkdownView(body, strings, copyButton);
    };
    begin();
    const dots = h("span", { class: "dots" });
    if (isUser) body.textContent = message.text;
    else foot.append(copyButton(() => message.text));
    let card: Promise<() => void> | undefined;
    let rating: Promise<() => void> | undefined;
    let drawn: { text: string; state: string; work: unknown } | null = null;
    const row = h(
      "div",
      { class: `row ${role}` },
      h("span", { class: isPerson ? "by" : "unseen", dir: "auto" }, isPerson ? name : `${name}: `),
      body,
      foot,
    );
    return {
      element: row,
      draw() {
        const { text, state, asks } = message;
        const isStreaming = state === "streaming";
        const work = isStreaming && message.work;
        row.dataset.state = state;
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
        // Gone on with after an end, or another one in its place.
        if (drawn && (drawn.state !== "streaming" || !text.startsWith(drawn.text))) begin();
        const now = { text, state, work };
        drawn = now;
        if (isStreaming) scroll.grow();
        dots.remove();
        markdown.update(isPerson ? toMarkdown(text) : text, isStreaming);
        dots.textContent = work ? strings[work] : "• • •";
        if (work || !text) body.append(dots);
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
  }

  function drawIntro(): void {
    const { source } = chat;
    const { config } = source;
    intro.hidden = !config && source.isRefused;
    if (!config) return;
    // Another one where the server has answered after it was drawn as it was last known.
    if (config !== greeted) {
      greeted = config;
      const texts = config.has_text_agent && Array.isArray(config.starters) ? config.starters : [];
      const buttons = texts.map((text) => textButton("starter", text, () => void chat.send(text)));
      for (const button of buttons) button.dir = "auto";
      const isDefault = config.greeting === fill(english.greeting, config.name);
      starters = h("div", { class: "starters", role: "group", "aria-label": strings.suggestions }, ...buttons);
      intro.replaceChildren(
        disclosure,
        h(
          "div",
          { class: "row assistant" },
          h("div", { class: "body", dir: "auto" }, isDefault ? fill(strings.greeting, config.name) : config.greeting),
        ),
        starters,
      );
    }
    starters.hidden = !starters.firstChild || chat.messages.length > 0;
  }

  function drawNotice(): void {
    clearTimeout(timer);
    const { messages, pause, source } = chat;
    // That a page view was refused is no matter once there are messages.
    const problem = source.config || (allowsChat(source) && messages.length) ? chat.problem : source.problem;
    const last = messages.at(-1);
    const state = last?.state ?? "done";
    const seconds = problem ? Math.ceil((problem.retryAt - Date.now()) / 1000) : 0;
    const isOffline = !navigator.onLine;
    const code = problem?.code ?? state;
    const hasWaited = isLimit(code) && seconds <= 0;
    const sentences = isOffline ? [strings.offline] : pause ? [strings[pause]] : [];
    // The notice that the browser is offline already gives the reason.
    if (!(isOffline && code === "network") && !/done|streaming|waiting/.test(code))
      sentences.push(fill(describe(hasWaited ? "waited" : code, strings), seconds));
    if (chat.waiting) sentences.push(strings.queued);
    sentence.textContent = sentences.join(" ");
    notice.hidden = !sentences.length;
    notice.classList.toggle("warn", !!problem);
    notice.classList.toggle("quiet", !isOffline && !!pause);
    retry.hidden = !!last?.isFinal || seconds > 0 || !canRetry(code) || /done|streaming/.test(code);
    // Once for each reason, not at every second.
    const reason = `${code}${isOffline}${pause}`;
    if (reason !== told && element.offsetParent) say(sentence.textContent);
    told = reason;
    if (seconds > 0) timer = window.setTimeout(drawNotice, 1000);
  }

  return {
    element,
    draw(message) {
      if (message) rows.drawOne(message);
      else {
        drawIntro();
        rows.draw(chat.messages);
        previous.hidden = !chat.previous;
      }
      drawNotice();
    },
    close() {
      clearTimeout(timer);
      rows.close();
      scroll.close();
    },
  };
}

/** What people write is no Markdown: only its lines and addresses count. */
function toMarkdown(text: string): string {
  const parts = text.split(/(https?:\/\/\S+)/);
  return parts
    .map((part, at) => (at % 2 ? part : part.replace(/[!-/:-@[-`{-~]/g, "\\$&").replace(/ *\n/g, "  \n")))
    .join("");
}
