/** The widget's frame: launcher, panel, header and theme; what is inside the panel draws itself. */
import { openStorage } from "../sdk/storage.ts";
import { createAnnouncer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import { createComposer } from "./composer.ts";
import type { Message } from "./conversation.ts";
import { dressButton, h, iconButton, icons, setAttributes } from "./dom.ts";
import type { Locale } from "./locale.ts";
import { createLogView } from "./log-view.ts";
import { fill } from "./strings.ts";
import { computeAccent, defaultColor } from "./theme.ts";
import { createVoiceButton } from "./voice-button.ts";

export type Mode = "launcher" | "inline" | "page";

export interface ViewOptions {
  mode: Mode;
  side: string | null;
  privacyUrl: string | null;
  assetsUrl: string;
  /** How many other launchers are beneath this one. */
  place: number;
  /** Where the tab keeps whether the panel is open. */
  openKey: string;
  emit(name: string, detail: unknown): void;
}

export interface View {
  readonly isOpen: boolean;
  setOpen(isOpen: boolean, hasFocus: boolean): void;
  draw(): void;
  follow(message: Message): void;
  close(): void;
}

export function createView(into: ShadowRoot, chat: Chat, locale: Locale, options: ViewOptions): View {
  const { strings } = locale;
  const { mode } = options;
  const isLauncher = mode === "launcher";
  const cleanUp = new AbortController();
  const announcer = createAnnouncer(strings);
  const log = createLogView(chat, locale, announcer, options.privacyUrl);
  const composer = createComposer(chat, strings, announcer);
  const voice = createVoiceButton(chat, strings, announcer, options);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const { openKey } = options;
  const tab = openStorage("sessionStorage");
  let isOpen = !isLauncher;
  let frame = 0;

  const picture = h("img", { alt: "", referrerpolicy: "no-referrer" });
  picture.onerror = () => picture.remove();
  const name = h("div", { class: "name", dir: "auto" });
  const anew = iconButton("tool", icons.plus, strings.restart, () => {
    chat.startAnew();
    announcer.say(strings.restart);
    focus();
  });
  const shut = iconButton("tool", icons.close, strings.close, () => setOpen(false, true));
  const offline = h("div", { class: "notice" }, strings.offline);
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
      ...(isLauncher ? [shut] : []),
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
      class: `root ${isLauncher ? "bubble" : mode} ${options.side}`,
      lang: locale.lang,
      dir: strings.dir,
    },
    panel,
    ...(isLauncher ? [launcher] : []),
    announcer.element,
  );

  root.style.setProperty("--place", String(options.place));

  function applyTheme(): void {
    const theme = into.host.getAttribute("theme");
    const isDark = theme === "dark" || (theme !== "light" && dark.matches);
    root.classList.toggle("dark", isDark);
    const accent = computeAccent(chat.config?.theme_color ?? defaultColor, isDark);
    for (const [property, color] of Object.entries(accent)) root.style.setProperty(`--${property}`, color);
  }

  function draw(): void {
    const { config } = chat;
    name.textContent = config?.name ?? "";
    setAttributes(panel, { "aria-label": config?.name ?? strings.conversation });
    picture.hidden = !config;
    if (config && isOpen && !picture.src) picture.src = config.avatar_url;
    panel.hidden = !isOpen;
    root.classList.toggle("open", isOpen);
    setAttributes(launcher, { "aria-expanded": isOpen });
    dressButton(launcher, isOpen ? icons.down : icons.chat, isOpen ? strings.close : strings.open);
    anew.hidden = !chat.messages.length;
    composer.element.hidden = !config?.has_text_agent;
    offline.hidden = navigator.onLine;
    applyTheme();
    log.draw();
    composer.draw();
    voice.draw();
    // What was pressed may be gone now, such as a suggestion: without the focus, Escape would not be heard either.
    if (into.activeElement?.getClientRects().length === 0) focus();
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
    // On the next page of the same tab the conversation goes on where it was.
    tab.setItem(openKey, isOpen ? "1" : "");
    if (isOpen) void chat.load();
    options.emit(isOpen ? "open" : "close", null);
    if (hasFocus) isOpen ? focus() : launcher.focus();
  }

  panel.addEventListener("keydown", (event) => {
    // Escape may also be the input method's, or close something that the page has opened.
    if (event.key === "Escape" && isLauncher && !event.isComposing) {
      event.stopPropagation();
      setOpen(false, true);
    }
  });
  const { signal } = cleanUp;
  // On small screens the panel covers the page: what is beneath must not get the focus.
  const keepFocus = ({ target }: Event) => {
    const isCovering = isLauncher && isOpen && matchMedia("(max-width: 480px)").matches;
    if (isCovering && target !== into.host) panel.focus();
  };
  document.addEventListener("focusin", keepFocus, { signal });
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
  if (tab.getItem(openKey)) setOpen(true, false);

  return {
    get isOpen() {
      return isOpen;
    },
    setOpen,
    draw,
    follow(message) {
      if (message.state === "streaming" && !message.text) announcer.say(fill(strings.typing, name.textContent));
      announcer.follow(message, message.text, message.state !== "streaming");
      // Many fragments can come between two frames.
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        log.draw();
      });
    },
    close() {
      cleanUp.abort();
      cancelAnimationFrame(frame);
      log.close();
      voice.close();
    },
  };
}
