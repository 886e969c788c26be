/** What is inside the panel: header, conversation and composer. A separate file, fetched before it is needed. */
import { createAnnouncer } from "./announcer.ts";
import { Chat } from "./chat.ts";
import { createClient } from "./client.ts";
import { createComposer } from "./composer.ts";
import { h, iconButton, icons, makeFace } from "./dom.ts";
import { greet } from "./greeting.ts";
import type { Home } from "./home.ts";
import { createLogView } from "./log-view.ts";
import type { Panel, PanelHost } from "./panel-host.ts";
import { createPeople } from "./people.ts";
import { english, fill } from "./strings.ts";
import { createVoiceButton } from "./voice-button.ts";

export { panelVersion } from "./panel-host.ts";

let sheet: CSSStyleSheet | null = null;

/** As long as a conversation is gone on with unasked. */
const recentMs = 30 * 60_000;

export function createPanel(host: PanelHost): Panel {
  const { shadow, box, source } = host;
  const strings = { ...english, ...host.words };
  const cleanUp = new AbortController();
  const { signal } = cleanUp;
  let frame = 0;
  let home: Home | undefined;

  const chat = new Chat(createClient(host), source, host.token, {
    changed: () => draw(),
    switched() {
      composer.restore(true);
      draw();
    },
    replied(message) {
      const { state, text, work } = message;
      if (state === "streaming" && (work || !text) && !chat.isHeld)
        announcer.say(work ? strings[work] : fill(strings.typing, name.textContent || strings.assistant));
      announcer.follow(message);
      if (text && state !== "streaming") host.miss();
      // Many fragments can come between two frames.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        log.draw(message);
      });
    },
    answers: (state) => people.answers(state),
    emit: host.emit,
  });
  const announcer = createAnnouncer(strings);
  const people = createPeople(chat, strings, announcer, host);
  const log = createLogView(chat, strings, announcer, host);
  const composer = createComposer(chat, strings, announcer, host.token);
  const voice = createVoiceButton(chat, strings, announcer, host);

  const picture = makeFace();
  // Its own direction is for the letters alone: the line stands where the interface's lines begin.
  const name = h("span", { dir: "auto" });
  const instant = h("span", { class: "instant" }, ` · ${strings.instant}`);
  const restart = iconButton("tool", icons.plus, strings.restart, () => {
    chat.restart();
    leaveHome();
    announcer.say(strings.restart);
    focus();
  });
  const shut = iconButton("tool", icons.close, strings.close, host.shut);

  function draw(): void {
    const { config } = source;
    const focused = shadow.activeElement;
    name.textContent = config?.name ?? "";
    picture.hidden = !config;
    const address = config && host.isOpen() && config.avatar_url;
    // The same one again would be loaded again.
    if (address && picture.getAttribute("src") !== address) picture.src = address;
    restart.hidden = !chat.messages.length;
    // A message can be written before the configuration is known; it waits.
    composer.element.hidden = config ? !config.has_text_agent : source.isRefused;
    people.draw();
    instant.hidden = chat.isHeld;
    log.draw();
    composer.draw();
    voice.draw();
    home?.draw();
    // The pressed element, such as a suggestion, may have been removed: without the focus, Escape would not work.
    if (focused?.getClientRects().length === 0) focus();
  }

  /** A visitor who comes back after a while chooses what to go on with. */
  async function goHome(): Promise<void> {
    const { messages, earlier } = chat;
    const isBusy = chat.isStreaming || chat.isBusy || chat.isHeld || composer.input.value;
    const isRecent = Date.now() - (messages.at(-1)?.at ?? 0) < recentMs;
    if (!host.isLauncher || !host.isOpen() || isBusy || isRecent || !(messages.length || earlier.length)) return;
    box.classList.add("at-home");
    try {
      const { showHome } = await host.load<typeof import("./home.ts")>(HOME_FILE, HOME_INTEGRITY, "home.js");
      home?.element.remove();
      if (box.matches(".at-home")) home = showHome(chat, strings, host, greet, leaveHome);
      if (box.matches(":focus")) focus();
    } catch {
      leaveHome();
    }
  }

  function leaveHome(): void {
    box.classList.remove("at-home");
    const hadFocus = home?.element.matches(":focus-within");
    home?.element.remove();
    draw();
    if (hadFocus) focus();
  }

  function focus(): void {
    // On touch screens the keyboard would cover what should be read first.
    const canType = !composer.element.hidden && !matchMedia("(pointer: coarse)").matches;
    const first = box.matches(".at-home") ? home?.element.querySelector("button") : canType && composer.input;
    (first || box).focus();
  }

  window.addEventListener("offline", draw, { signal });
  const flush = () => {
    draw();
    void chat.flush();
  };
  window.addEventListener("online", flush, { signal });
  for (const name of ["ready", "error"]) shadow.host.addEventListener(`companion:${name}`, flush, { signal });
  shadow.host.addEventListener("companion:open", () => void goHome(), { signal });
  window.addEventListener("pagehide", () => chat.leave(), { signal });

  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(PANEL_STYLE);
  }
  if (!shadow.adoptedStyleSheets.includes(sheet)) shadow.adoptedStyleSheets.push(sheet);
  box.append(
    h(
      "header",
      {},
      picture,
      h(
        "div",
        { class: "title" },
        h("div", { class: "name" }, name),
        h("div", { class: "subtitle" }, h("span", { class: "kind" }, strings.assistant), instant),
      ),
      voice.button,
      restart,
      ...(host.isLauncher ? [shut] : []),
    ),
    log.element,
    voice.bar,
    people.element,
    composer.element,
  );
  if (box.parentElement) followViewport(box.parentElement, composer.fit, signal);
  // Beside the box: it is heard when that is closed, too.
  box.after(announcer.element);
  // Not before all that it draws is there.
  chat.start(host.visitor);
  composer.restore(false);
  void goHome();

  return {
    draw,
    focus,
    send(text) {
      leaveHome();
      return chat.send(text);
    },
    restart() {
      chat.restart();
      leaveHome();
    },
    identify: (visitor) => void chat.identify(visitor),
    close() {
      cleanUp.abort();
      cancelAnimationFrame(frame);
      chat.close();
      log.close();
      people.close();
      voice.close();
    },
  };
}

/** Less than this is a scroll bar or a rounding, and no keyboard. */
const leastKeyboardHeight = 80;

/**
 * Keeps the panel within what an on-screen keyboard leaves of the window, by variables of the root; `changed` once they are
 * set.
 */
function followViewport(root: HTMLElement, changed: () => void, signal: AbortSignal): void {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    // Zoomed in, the visitor sees only a part of the page: the panel stays where it is.
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
