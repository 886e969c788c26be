/** `<companion-chat>`: the custom element, its attributes, its methods and its events. */
import type { Fetch } from "../../reply-reader/request.ts";
import { type CompanionConfig, createConnection } from "../sdk/connection.ts";
import type { TokenSource } from "../sdk/identity.ts";
import { forgetCompanion } from "../sdk/storage.ts";
import { ConfigSource } from "./config-source.ts";
import { createFrame, type Frame, type Mode } from "./frame.ts";
import { loadLocale } from "./locale.ts";
import { prefetchPanel } from "./panel-loader.ts";
import { isRefusal, type Problem } from "./problem.ts";

export const elementName = "companion-chat";

let defaultBaseUrl = "";
let sheets: { shown: CSSStyleSheet; absent: CSSStyleSheet } | null = null;
/** What has been logged to the console already. */
const logged = new Set<unknown>();

/** Where elements without `base-url` find their server: where the script came from. */
export function setDefaultBaseUrl(url: string): void {
  defaultBaseUrl ||= url;
}

type Act = (chat: CompanionChat) => unknown;

/** What the page wants done with each chat, such as to say who the visitor is, whether that has come already or not. */
let acts: Act[] = [];

/** `window.companiond` is a list of functions that take a chat; the page may begin it before this script has loaded. */
export function listenToPage(): void {
  const page = window as { companiond?: Act[] };
  if (Array.isArray(page.companiond)) acts = page.companiond;
  else page.companiond = acts;
  acts.push = (...more) => {
    for (const chat of document.querySelectorAll<CompanionChat>(elementName)) for (const act of more) act(chat);
    return Array.prototype.push.apply(acts, more);
  };
}

export class CompanionChat extends HTMLElement {
  static readonly observedAttributes = ["token", "mode", "lang", "theme", "strings", "visitor-token"];

  #source: ConfigSource | null = null;
  #frame: Frame | null = null;
  #ready: Promise<void> = Promise.resolve();
  #run = 0;
  #visitor: TokenSource = null;
  #given: CompanionConfig | null = null;
  /** Of the dashboard, set before the element is on the page: answers all requests instead of the server. */
  fetch: Fetch | undefined;
  readonly #shadow = this.attachShadow({ mode: "open" });

  constructor() {
    super();
    sheets ??= { shown: makeSheet(LAUNCHER_STYLE), absent: makeSheet(":host{display:none!important}") };
  }

  get isOpen(): boolean {
    return this.#frame?.isOpen ?? false;
  }

  get config(): CompanionConfig | null {
    return this.#source?.config ?? this.#given;
  }

  /** Of the dashboard: a configuration that is requested nowhere and kept nowhere. Another one is drawn immediately. */
  set config(config: CompanionConfig | null) {
    this.#given = config;
    if (config) this.#source?.give(config);
  }

  /** Shows the panel and moves the focus into it. */
  open(): void {
    this.#whenReady((frame) => frame.setOpen(true, true));
  }

  close(): void {
    this.#whenReady((frame) => frame.setOpen(false, this.matches(":focus-within")));
  }

  /** Opens the panel and sends a message as if the visitor had written it; resolves when its reply has ended. */
  async send(text: string): Promise<void> {
    await this.#ready;
    this.#frame?.setOpen(true, false);
    const panel = await this.#frame?.getPanel();
    await panel?.send(String(text));
  }

  newConversation(): void {
    this.#whenReady(async (frame) => (await frame.getPanel()).restart());
  }

  /**
   * Identifies the visitor: a token signed by the website's server, or a function that fetches one when it is needed,
   * and returns null where no one is signed in. `null` itself signs out: the panel is emptied, and this browser keeps
   * nothing of it.
   */
  identify(visitor: TokenSource): void {
    this.#visitor = visitor || null;
    this.#frame?.identify(this.#visitor);
    if (!visitor) forgetCompanion(this.getAttribute("token") ?? "");
  }

  /** Listens to `ready`, `open`, `close`, `message`, `reply`, `error` or `voice`; returns a function that stops. */
  on(name: string, listener: (detail: unknown) => void): () => void {
    // A configuration that the tab had kept was ready before anyone could listen.
    if (name === "ready" && this.#source?.config) listener(this.#source.config);
    const handle = (event: Event) => listener((event as CustomEvent).detail);
    this.addEventListener(`companion:${name}`, handle);
    return () => this.removeEventListener(`companion:${name}`, handle);
  }

  connectedCallback(): void {
    this.#visitor ??= this.getAttribute("visitor-token");
    for (const act of acts) act(this);
    this.#start();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    // For an element in the page's markup, attribute callbacks run before the connected callback.
    if (!this.#run || !this.isConnected || before === after) return;
    // Pages may switch between light and dark at any time; that must not interrupt a reply.
    if (name === "theme") this.#frame?.draw();
    else if (name === "visitor-token") this.identify(after);
    else this.#start();
  }

  #whenReady(act: (frame: Frame) => unknown): void {
    void this.#ready.then(() => this.#frame && act(this.#frame));
  }

  #start(): void {
    this.#stop();
    const get = (name: string) => this.getAttribute(name);
    const token = get("token");
    if (!token) return;
    const run = ++this.#run;
    const baseUrl = (get("base-url") ?? defaultBaseUrl).replace(/\/+$/, "");
    const assetsUrl = `${baseUrl}/assets/`;
    const mode = (/^(inline|page)$/.exec(get("mode") ?? "")?.[0] ?? "launcher") as Mode;
    const emit = (name: string, detail: unknown) => this.#emit(name, detail);

    const connection = createConnection({ baseUrl, token, fetch: this.fetch });
    const source = new ConfigSource(connection, baseUrl, token, { changed: () => this.#draw(), emit });
    this.#source = source;
    if (this.#given) source.give(this.#given);
    this.#shadow.adoptedStyleSheets = sheets ? [sheets.shown] : [];
    document.addEventListener("companion:open", this.#makeRoom);
    // A panel that is open from the start is needed immediately.
    if (mode !== "launcher") prefetchPanel(assetsUrl).catch(() => {});
    const lang = get("lang") || document.documentElement.lang;
    const locale = loadLocale(assetsUrl, lang, get("strings"));
    // Until the companion is known there is no colour to draw the launcher in.
    this.#ready = Promise.all([locale, source.begin(mode !== "launcher")]).then(([locale]) => {
      if (run !== this.#run) return;
      // In page mode there is nothing but the panel, so the panel shows the problem.
      if (source.isRefused && mode !== "page") return this.#vanish();
      this.#frame = createFrame(this.#shadow, connection, source, locale, {
        mode,
        fetch: this.fetch,
        token,
        baseUrl,
        assetsUrl,
        emit,
        visitor: this.#visitor,
        side: get("position"),
        privacyUrl: get("privacy-url"),
        slot: this.#countLaunchersBefore(),
      });
    });
  }

  #stop(): void {
    this.#run++;
    document.removeEventListener("companion:open", this.#makeRoom);
    this.#frame?.close();
    this.#source?.close();
    this.#source = null;
    this.#frame = null;
    this.#shadow.replaceChildren();
  }

  #draw(): void {
    if (!this.#source?.isRefused || this.#frame?.isOpen) this.#frame?.draw();
    else if (this.#frame) this.#vanish();
  }

  /** The companion may not be shown on this page: draws nothing and takes no space. */
  #vanish(): void {
    this.#frame?.close();
    this.#frame = null;
    this.#shadow.replaceChildren();
    this.#shadow.adoptedStyleSheets = sheets ? [sheets.absent] : [];
  }

  /** Several launchers on one page are placed side by side; without one, -1. */
  #countLaunchersBefore(): number {
    const launchers = document.querySelectorAll(`${elementName}:not([mode=inline], [mode=page])`);
    return [...launchers].indexOf(this);
  }

  /** Panels share one position, so opening one closes the others. */
  #makeRoom = ({ target }: Event): void => {
    if (target !== this) this.#frame?.setOpen(false, false);
  };

  #emit(name: string, detail: unknown): void {
    if (name === "error") warn(this.#source?.problem, detail);
    this.dispatchEvent(new CustomEvent(`companion:${name}`, { detail, bubbles: true, composed: true }));
    if (name === "close") this.#draw();
  }
}

function makeSheet(style: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  return sheet;
}

/** Reports to the website's owner, once and in the server's sentence, why there is no chat. */
function warn(problem: Problem | null | undefined, error: unknown): void {
  const reason = isRefusal(problem?.code) && `there is no chat on ${location.origin}: ${Object(error).message}`;
  if (!logged.has(reason)) console.warn(`${elementName}:`, reason || error);
  if (reason) logged.add(reason);
}
