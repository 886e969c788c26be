/** The widget's frame: launcher, panel, header and theme; what is inside the panel draws itself. */
import { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import { createComposer } from "./composer.ts";
import type { Message } from "./conversation.ts";
import { h, icon, iconButton, icons, labelButton, setAttributes } from "./dom.ts";
import type { Locale } from "./locale.ts";
import { createLogView } from "./log-view.ts";
import { fill } from "./strings.ts";
import { computeAccent, defaultColor } from "./theme.ts";
import { createVoiceButton } from "./voice-button.ts";

export type Mode = "launcher" | "inline" | "page";

export interface ViewOptions {
  mode: Mode;
  theme: string | null;
  side: string | null;
  privacyUrl: string | null;
  assetsUrl: string;
  /** How many other launchers are beneath this one. */
  place: number;
  /** The visitor opened or closed the panel. */
  onToggle(isOpen: boolean): void;
  emit(name: string, detail: unknown): void;
}

export interface View {
  readonly isOpen: boolean;
  setOpen(isOpen: boolean, hasFocus: boolean): void;
  setTheme(theme: string | null): void;
  draw(): void;
  follow(message: Message): void;
  focus(): void;
  close(): void;
}

export function createView(into: ShadowRoot, chat: Chat, locale: Locale, options: ViewOptions): View {
  const { strings } = locale;
  const { mode } = options;
  const isLauncher = mode === "launcher";
  const cleanUp = new AbortController();
  const announcer = new Announcer();
  const log = createLogView(chat, locale, announcer, options.privacyUrl);
  const composer = createComposer(chat, strings, announcer);
  const voice = createVoiceButton(chat, strings, announcer, options);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let { theme } = options;
  let isOpen = !isLauncher;
  let frame = 0;

  const picture = h("img", { alt: "", width: 36, height: 36, referrerpolicy: "no-referrer" });
  picture.onerror = () => picture.remove();
  const name = h("div", { class: "name", dir: "auto" });
  const anew = iconButton("tool", icons.plus, strings.newConversation, () => {
    chat.startAnew();
    announcer.say(strings.newConversation);
    focus();
  });
  const shut = iconButton("tool", icons.close, strings.close, () => setOpen(false, true));
  const offline = h("div", { class: "offline", hidden: true }, strings.offline);
  const panel = h(
    "section",
    { class: "panel", id: "panel", role: isLauncher ? "dialog" : "region", tabindex: -1 },
    h(
      "header",
      {},
      picture,
      h("div", { class: "title" }, name, h("div", { class: "subtitle" }, strings.assistant)),
      voice.button,
      anew,
      isLauncher && shut,
    ),
    log.element,
    offline,
    voice.bar,
    composer.element,
  );
  const launcher = h("button", { type: "button", class: "launcher", "aria-controls": "panel" });
  launcher.onclick = () => setOpen(!isOpen, true);
  const root = h(
    "div",
    {
      class: `root ${isLauncher ? "bubble" : mode}`,
      lang: locale.lang,
      dir: locale.dir,
      "data-side": options.side === "left" ? "left" : "right",
    },
    panel,
    isLauncher && launcher,
    announcer.element,
  );

  root.style.setProperty("--place", String(options.place));

  function applyTheme(): void {
    const isDark = theme === "dark" || (theme !== "light" && dark.matches);
    root.classList.toggle("dark", isDark);
    const { fill, onFill, ink } = computeAccent(chat.config?.theme_color ?? defaultColor, isDark);
    root.style.setProperty("--fill", fill);
    root.style.setProperty("--on-fill", onFill);
    root.style.setProperty("--ink", ink);
  }

  function drawFrame(): void {
    const { config, configProblem } = chat;
    const title = config?.name ?? "";
    name.textContent = title;
    setAttributes(panel, { "aria-label": title || strings.conversation });
    if (config && picture.getAttribute("src") !== config.avatar_url) picture.src = config.avatar_url;
    picture.hidden = !config;
    // Until the companion is known there is no colour to draw the launcher in.
    setAttributes(root, { "data-ready": !!(config || configProblem) });
    panel.hidden = !isOpen;
    root.classList.toggle("open", isOpen);
    launcher.replaceChildren(icon(isOpen ? icons.down : icons.chat));
    setAttributes(launcher, { "aria-expanded": String(isOpen) });
    labelButton(launcher, isOpen ? strings.close : strings.open);
    anew.hidden = !chat.messages.length;
    composer.element.hidden = !config?.has_text_agent;
    offline.hidden = navigator.onLine !== false;
    applyTheme();
  }

  function draw(): void {
    drawFrame();
    log.draw();
    composer.draw();
    voice.draw();
  }

  function focus(): void {
    // On touch screens the keyboard would cover what is to be read first.
    const canType = !composer.element.hidden && !matchMedia("(pointer: coarse)").matches;
    (canType ? composer.input : panel).focus();
  }

  function setOpen(next: boolean, hasFocus: boolean): void {
    if (!isLauncher || next === isOpen) return;
    isOpen = next;
    draw();
    options.onToggle(isOpen);
    if (hasFocus) isOpen ? focus() : launcher.focus();
  }

  panel.addEventListener("keydown", (event) => {
    // Escape may also be the input method's, or close something that the page has opened.
    if (event.key === "Escape" && isLauncher && !event.isComposing) {
      event.stopPropagation();
      setOpen(false, true);
    }
    if (event.key === "Tab" && isLauncher && matchMedia("(max-width: 480px)").matches) keepFocusInside(event, panel);
  });
  const { signal } = cleanUp;
  dark.addEventListener("change", applyTheme, { signal });
  for (const event of ["online", "offline"]) {
    window.addEventListener(
      event,
      () => {
        draw();
        if (!offline.hidden && isOpen) announcer.say(strings.offline);
      },
      { signal },
    );
  }
  into.replaceChildren(root);
  draw();

  return {
    get isOpen() {
      return isOpen;
    },
    setOpen,
    setTheme(next) {
      theme = next;
      applyTheme();
    },
    draw,
    follow(message) {
      if (message.state === "streaming" && !message.text)
        announcer.say(fill(strings.typing, { name: name.textContent }));
      announcer.follow(message, message.text, message.state !== "streaming");
      // Many fragments can come between two frames.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        log.draw();
      });
    },
    focus,
    close() {
      cleanUp.abort();
      cancelAnimationFrame(frame);
      log.close();
      voice.close();
    },
  };
}

/** On small screens the panel covers the page: what is beneath must not get the focus. */
function keepFocusInside(event: KeyboardEvent, panel: HTMLElement): void {
  const all = [...panel.querySelectorAll<HTMLElement>("a, button, textarea, [tabindex='0']")];
  const stops = all.filter((element) => element.offsetParent && !("disabled" in element && element.disabled));
  const active = (panel.getRootNode() as ShadowRoot).activeElement;
  const [edge, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (active !== edge && active !== panel) return;
  event.preventDefault();
  other?.focus();
}
