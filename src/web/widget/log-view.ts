/** The conversation as it is read: greeting, messages, suggested questions, and what went wrong. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { h, textButton } from "./dom.ts";
import { greet } from "./greeting.ts";
import { createRows } from "./log-rows.ts";
import { createLogScroll } from "./log-scroll.ts";
import { makeLink } from "./markdown-inline.ts";
import { createRowMaker } from "./message-row.ts";
import type { PanelHost } from "./panel-host.ts";
import { allowsChat, canRetry, describe, isLimit } from "./problem.ts";
import { fill, type Strings } from "./strings.ts";

export interface LogView {
  element: HTMLElement;
  /** Draws what has changed: of this message alone, where one is given. */
  draw(message?: Message): void;
  /** Stops its timers. */
  close(): void;
}

export function createLogView(chat: Chat, strings: Strings, announcer: Announcer, host: PanelHost): LogView {
  const { say } = announcer;
  const { privacyUrl } = host;
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
    // Not a live region: the announcer speaks by the sentence.
    "aria-live": "off",
    tabindex: 0,
    "aria-label": strings.conversation,
  });
  const scroll = createLogScroll(element, h("div", { class: "lines" }, previous, intro, list, notice), strings.latest);
  const rows = createRows(list, scroll, createRowMaker(chat, strings, announcer, host, scroll));
  let greeted: unknown;
  let starters: HTMLElement;
  let announced = "";
  let timer = 0;

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
      starters = h("div", { class: "starters", role: "group", "aria-label": strings.suggestions }, ...buttons);
      // Whose it is stands in the header.
      intro.replaceChildren(
        h(
          "div",
          { class: "row assistant" },
          h("div", { class: "body reply", dir: "auto" }, greet(config, host.shadow.host, strings)),
        ),
        starters,
        disclosure,
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
    if (!(isOffline && code === "network") && !/done|streaming|waiting/.test(code) && (problem || state !== "failed"))
      sentences.push(fill(describe(hasWaited ? "waited" : code, strings), seconds));
    if (chat.waiting && !chat.isStreaming) sentences.push(strings.queued);
    sentence.textContent = sentences.join(" ");
    notice.hidden = !sentences.length;
    notice.classList.toggle("warn", !!problem);
    notice.classList.toggle("quiet", !isOffline && !!pause);
    const isBarred = seconds > 0 || !canRetry(code);
    retry.hidden = !!last?.isFinal || isBarred || chat.isStreaming || state === "failed" || /done|streaming/.test(code);
    // The message itself offers it.
    list.classList.toggle("barred", isBarred);
    // Once for each reason, not at every second.
    const reason = `${code}${isOffline}${pause}`;
    if (reason !== announced && element.offsetParent) say(sentence.textContent);
    announced = reason;
    if (seconds > 0) timer = window.setTimeout(drawNotice, 1000);
  }

  return {
    element,
    draw(message) {
      if (message) rows.drawOne(message);
      else {
        drawIntro();
        rows.draw(chat.messages);
        previous.hidden = !chat.earlier.length;
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
