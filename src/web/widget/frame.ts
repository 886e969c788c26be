/** The widget's frame: launcher, theme, and the panel's box, whose content comes in a second file. */
import type { Fetch } from "../../reply-reader/request.ts";
import type { Connection } from "../sdk/connection.ts";
import type { TokenSource } from "../sdk/identity.ts";
import { keyPrefix, openStorage } from "../sdk/storage.ts";
import type { ConfigSource } from "./config-source.ts";
import { h, setAttributes, textButton } from "./dom.ts";
import { drawTheme } from "./draw-theme.ts";
import { drawExpected } from "./expected-panel.ts";
import { createLauncher } from "./launcher.ts";
import { launcherEnglish } from "./launcher-strings.ts";
import type { Locale } from "./locale.ts";
import type { Panel } from "./panel-host.ts";
import { loadFile, loadPanel, prefetchPanel } from "./panel-loader.ts";
import type { Teaser } from "./teaser.ts";

/** As in the style sheet. */
const coveringScreens = "(max-width: 480px), (max-height: 480px) and (pointer: coarse)";

export type Mode = "launcher" | "inline" | "page";

export interface FrameOptions {
  mode: Mode;
  fetch: Fetch | undefined;
  token: string;
  baseUrl: string;
  /** Who the page says the visitor is; null where it does not. */
  visitor: TokenSource;
  /** Of the launcher, where the page names one. */
  side: string | null;
  privacyUrl: string | null;
  /** Ends with a slash. */
  assetsUrl: string;
  /** How many other launchers are beneath this one. */
  slot: number;
  emit(name: string, detail: unknown): void;
}

export interface Frame {
  readonly isOpen: boolean;
  setOpen(isOpen: boolean, hasFocus: boolean): void;
  draw(): void;
  /** The panel's content, as soon as it has come. */
  getPanel(): Promise<Panel>;
  identify(visitor: TokenSource): void;
  close(): void;
}

export function createFrame(
  shadow: ShadowRoot,
  connection: Connection,
  source: ConfigSource,
  { lang, words }: Locale,
  options: FrameOptions,
): Frame {
  const strings = { ...launcherEnglish, ...words };
  const { mode, token, baseUrl, assetsUrl, privacyUrl, emit } = options;
  const isLauncher = mode === "launcher";
  const cleanUp = new AbortController();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const openKey = `${keyPrefix(token)}open`;
  const tab = openStorage("sessionStorage");
  const storage = openStorage("localStorage");
  const getKept = (name: string) => storage.getItem(keyPrefix(token) + name) ?? "";
  const keep = (name: string, text: string) => storage.setItem(keyPrefix(token) + name, text);
  let isOpen = !isLauncher;
  let panel: Panel | null = null;
  let isLoading = false;
  let resolvePanel: (panel: Panel) => void;
  const arrival = new Promise<Panel>((resolve) => {
    resolvePanel = resolve;
  });

  const box = h("section", {
    class: "panel",
    id: "panel",
    role: isLauncher ? "dialog" : "region",
    tabindex: -1,
  });
  const launcher = createLauncher(strings, {
    config: () => source.config,
    isOpen: () => isOpen,
    press: () => setOpen(!isOpen, true),
    ...{ getKept, keep },
  });
  const root = h(
    "div",
    { class: `root ${isLauncher ? "bubble" : mode}`, lang, dir: strings.dir },
    box,
    ...(isLauncher ? [launcher.button] : []),
  );
  root.style.setProperty("--slot", String(options.slot));
  let teaser: Promise<Teaser> | null = null;

  async function fillBox(): Promise<void> {
    if (panel || isLoading) return;
    isLoading = true;
    drawExpected(box, source.config, strings);
    try {
      const { createPanel } = await loadPanel(assetsUrl);
      if (cleanUp.signal.aborted) return;
      const hadFocus = box.matches(":focus-within");
      box.replaceChildren();
      root.classList.add("filled");
      panel = createPanel({
        ...{ shadow, box, isLauncher, token, baseUrl, connection, source, lang, privacyUrl, assetsUrl, emit },
        words: strings,
        visitor: options.visitor,
        fetch: options.fetch,
        load: (...file) => loadFile(assetsUrl, ...file),
        isOpen: () => isOpen,
        mark: launcher.mark,
        miss: launcher.miss,
        shut: () => setOpen(false, true),
      });
      draw();
      if (hadFocus) panel.focus();
      resolvePanel(panel);
    } catch (error) {
      console.warn("companion-chat:", error);
      const hadFocus = box.matches(":focus-within");
      const retry = textButton("retry", strings.retry, () => {
        void fillBox();
        box.focus();
      });
      box.replaceChildren(
        h("div", { class: "notice absent", role: "status" }, h("span", {}, strings.notLoaded), retry),
      );
      if (hadFocus) box.focus();
    }
    isLoading = false;
  }

  const applyTheme = () => drawTheme(root, shadow.host, source.config, options.side, dark.matches);

  /** Who has opened the chat once, here or on another page, knows it. */
  function drawTeaser(): void {
    const end = () => keep("teaser", "1");
    if (isOpen) end();
    const teased = (!getKept("teaser") && source.config?.appearance?.teaser) || null;
    if (!isLauncher || !(teased || teaser)) return;
    teaser ??= loadFile<typeof import("./teaser.ts")>(assetsUrl, TEASER_FILE, TEASER_INTEGRITY, "teaser.js").then(
      ({ createTeaser }) => createTeaser(shadow, strings.dismiss, () => setOpen(true, true), end),
    );
    teaser.then((loaded) => loaded.draw(cleanUp.signal.aborted ? null : teased), console.warn);
  }

  function draw(): void {
    setAttributes(box, { "aria-label": source.config?.name ?? strings.conversation });
    box.hidden = !isOpen;
    root.classList.toggle("open", isOpen);
    launcher.draw();
    applyTheme();
    drawTeaser();
    panel?.draw();
  }

  function focus(): void {
    if (panel) panel.focus();
    else box.focus();
  }

  /**
   * Into the top layer, which no `transform`, `filter` or `contain` of the page moves or clips, unless the page gives a
   * level of its own, or a box. Where that fails the style sheet draws the same in the page.
   */
  function lift(): void {
    const isLevelled = getComputedStyle(shadow.host).getPropertyValue("--companion-z-index");
    if (isLevelled || shadow.host.hasAttribute("boxed")) return;
    root.popover = "manual";
    try {
      root.showPopover();
    } catch {
      root.removeAttribute("popover");
    }
  }

  function setOpen(next: boolean, hasFocus: boolean): void {
    if (!isLauncher || next === isOpen) return;
    isOpen = next;
    if (isOpen) void fillBox();
    draw();
    // On the next page of the same tab the conversation goes on where it was.
    tab.setItem(openKey, isOpen ? "1" : "");
    if (isOpen) void source.load(true, hasFocus);
    emit(isOpen ? "open" : "close", null);
    if (hasFocus) isOpen ? focus() : launcher.button.focus();
  }

  box.addEventListener("keydown", (event) => {
    // Escape may also be the input method's, or close something that the page has opened.
    if (event.key === "Escape" && isLauncher && !event.isComposing) {
      event.stopPropagation();
      setOpen(false, true);
    }
  });
  const { signal } = cleanUp;
  // On small screens the panel covers the page: what is beneath must not get the focus.
  const keepFocus = ({ target }: Event) => {
    const isCovering = isLauncher && isOpen && matchMedia(coveringScreens).matches;
    if (isCovering && target !== shadow.host) box.focus();
  };
  document.addEventListener("focusin", keepFocus, { signal });
  dark.addEventListener("change", applyTheme, { signal });
  document.addEventListener("visibilitychange", launcher.draw, { signal });
  const prefetch = () => void prefetchPanel(assetsUrl).catch(() => {});
  for (const sign of ["pointerenter", "focus"]) launcher.button.addEventListener(sign, prefetch);
  // Safari has no idle callbacks.
  const whenIdle = globalThis.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 2_000));
  if (!Object(navigator).connection?.saveData) whenIdle(prefetch);

  shadow.replaceChildren(root);
  if (isLauncher) lift();
  if (isOpen) void fillBox();
  draw();
  if (tab.getItem(openKey)) setOpen(true, false);
  // A reply was under way when the last page went, or a person has the conversation: that goes on behind the launcher.
  else if (/"streaming"/.test(getKept("messages")) || /"state":"[pw]/.test(getKept("people"))) void fillBox();

  return {
    get isOpen() {
      return isOpen;
    },
    setOpen,
    draw,
    getPanel() {
      void fillBox();
      return arrival;
    },
    identify(visitor) {
      options.visitor = visitor;
      panel?.identify(visitor);
    },
    close() {
      cleanUp.abort();
      drawTeaser();
      panel?.close();
    },
  };
}
