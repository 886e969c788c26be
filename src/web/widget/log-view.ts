/** The conversation as it is read: greeting, messages, suggested questions, and what went wrong. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { h, icon, iconButton, icons, labelButton, setAttributes, textButton } from "./dom.ts";
import type { Locale } from "./locale.ts";
import { createMarkdownView } from "./markdown.ts";
import type { Problem } from "./problem-text.ts";
import { fill } from "./strings.ts";

export interface LogView {
  element: HTMLElement;
  /** Draws what has changed. */
  draw(): void;
  /** Ends what runs by the clock. */
  close(): void;
}

interface Row {
  element: HTMLElement;
  draw(): void;
}

export function createLogView(
  chat: Chat,
  { lang, strings }: Locale,
  announcer: Announcer,
  privacyUrl: string | null,
): LogView {
  const rows = new Map<Message, Row>();
  const intro = h("div", { class: "intro" });
  const list = h("div", { class: "list" });
  const notice = h("div", { class: "notice", hidden: true });
  const element = h(
    "div",
    // Not live by itself: the announcer speaks by the sentence.
    { class: "log", role: "log", "aria-live": "off", tabindex: 0, "aria-label": strings.conversation },
    intro,
    list,
    notice,
  );
  let shown: { problem: Problem; timer: number } | null = null;

  function copyButton(name: string, getText: () => string): HTMLButtonElement {
    const button = iconButton(name, icons.copy, strings.copy, () => {
      // Absent on plain-HTTP pages, refused in some frames: then nothing is claimed.
      navigator.clipboard?.writeText(getText()).then(
        () => {
          button.replaceChildren(icon(icons.check));
          labelButton(button, strings.copied);
          announcer.say(strings.copied);
          setTimeout(() => {
            button.replaceChildren(icon(icons.copy));
            labelButton(button, strings.copy);
          }, 2000);
        },
        () => {},
      );
    });
    return button;
  }

  function makeRow(message: Message): Row {
    const isUser = message.role === "user";
    const body = h("div", { class: "body", dir: "auto" });
    const time = h("time", { datetime: new Date(message.at).toISOString() }, formatTime(message.at, lang));
    const foot = h("div", { class: "foot" }, time);
    const name = isUser ? strings.you : (chat.config?.name ?? strings.assistant);
    const row = h("div", { class: `row ${message.role}` }, h("span", { class: "unseen" }, `${name}: `), body, foot);
    const dots = h("span", { class: "dots" }, h("i"), h("i"), h("i"));
    const markdown = isUser
      ? null
      : createMarkdownView(body, (box, code) => box.prepend(copyButton("copy", () => code)));
    if (isUser) body.textContent = message.text;
    else foot.append(copyButton("copy", () => message.text));
    let drawn = "";
    return {
      element: row,
      draw() {
        const isStreaming = message.state === "streaming";
        setAttributes(row, { "data-state": message.state });
        foot.hidden = isStreaming;
        const key = `${message.text} ${isStreaming}`;
        if (isUser || key === drawn) return;
        drawn = key;
        if (isStreaming && !message.text) body.append(dots);
        else dots.remove();
        markdown?.update(message.text, isStreaming);
      },
    };
  }

  function drawIntro(): void {
    const { config } = chat;
    intro.hidden = !config;
    if (!config || intro.childElementCount) return;
    const link = toWebUrl(privacyUrl);
    intro.append(
      h(
        "p",
        { class: "disclosure" },
        `${strings.disclosure} `,
        link && h("a", { href: link, target: "_blank", rel: "noopener" }, strings.privacy),
      ),
      h("div", { class: "row assistant" }, h("div", { class: "body", dir: "auto" }, config.greeting)),
    );
    const starters = config.has_text_agent && Array.isArray(config.starters) ? config.starters : [];
    const buttons = starters.map((text) => textButton("starter", text, () => void chat.send(text)));
    for (const button of buttons) button.dir = "auto";
    if (buttons.length) {
      intro.append(h("div", { class: "starters", role: "group", "aria-label": strings.suggestions }, ...buttons));
    }
  }

  function drawNotice(): void {
    const problem = chat.config ? chat.problem : chat.configProblem;
    const last = chat.messages.at(-1);
    const leftOver = last && !chat.isStreaming && /stopped|cut|failed/.test(last.state) ? last.state : null;
    if (problem === shown?.problem && problem) return;
    clearInterval(shown?.timer);
    shown = null;
    notice.hidden = !problem && !leftOver;
    if (notice.hidden) return;
    const sentence = h("span");
    const retry = textButton("retry", strings.retry, () => void (chat.config ? chat.retry() : chat.load()));
    notice.replaceChildren(sentence, retry);
    notice.dataset.code = problem?.code ?? leftOver ?? "";
    retry.hidden = problem ? !problem.canRetry : false;
    if (!problem) {
      sentence.textContent =
        leftOver === "stopped" ? strings.stopped : leftOver === "cut" ? strings.cut : strings.failed;
      return;
    }
    const tell = () => {
      const seconds = Math.ceil((problem.retryAt - Date.now()) / 1000);
      const isOver = problem.retryAt > 0 && seconds <= 0;
      sentence.textContent = isOver ? strings.busyOver : fill(strings[problem.key], { seconds });
      retry.disabled = seconds > 0;
      if (!isOver) return;
      clearInterval(shown?.timer);
      // The companion itself is still missing: whoever has the panel open waits for just that.
      if (!chat.config && element.checkVisibility?.() !== false) void chat.load();
    };
    tell();
    shown = { problem, timer: window.setInterval(tell, problem.retryAt ? 1000 : 2 ** 31 - 1) };
    announcer.say(sentence.textContent ?? "");
  }

  return {
    element,
    draw() {
      const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 48;
      const hadMessages = rows.size;
      drawIntro();
      intro.lastElementChild?.toggleAttribute("hidden", chat.messages.length > 0 && intro.childElementCount > 2);
      for (const [message, row] of rows) {
        if (chat.messages.includes(message)) continue;
        row.element.remove();
        rows.delete(message);
      }
      for (const message of chat.messages) {
        const row = rows.get(message) ?? makeRow(message);
        rows.set(message, row);
        if (!row.element.isConnected) list.append(row.element);
        row.draw();
      }
      drawNotice();
      // A visitor who has scrolled up to read is left alone.
      if (isAtEnd || rows.size > hadMessages) element.scrollTop = element.scrollHeight;
    },
    close() {
      clearInterval(shown?.timer);
      shown = null;
    },
  };
}

function formatTime(at: number, lang: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return new Intl.DateTimeFormat(lang, { hour: "numeric", minute: "2-digit", ...day }).format(date);
}

function toWebUrl(text: string | null): string | null {
  if (!text) return null;
  try {
    const url = new URL(text, document.baseURI);
    return /^https?:$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
