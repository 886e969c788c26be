/** `<companion-chat>`: the custom element, its attributes, its methods and its events. */
import { Chat } from "./chat.ts";
import { loadLocale } from "./locale.ts";
import { createView, type Mode, type View } from "./view.ts";

export const elementName = "companion-chat";

let defaultBaseUrl = "";
let sheet: CSSStyleSheet | null = null;

/** Where elements without `base-url` find their server: where the script came from. */
export function setDefaultBaseUrl(url: string): void {
  defaultBaseUrl ||= url;
}

export class CompanionChat extends HTMLElement {
  static readonly observedAttributes = ["token", "mode", "lang", "theme", "strings"];

  #chat: Chat | null = null;
  #view: View | null = null;
  #ready: Promise<void> = Promise.resolve();
  #run = 0;
  readonly #shadow = this.attachShadow({ mode: "open" });

  constructor() {
    super();
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(WIDGET_STYLE);
    }
    this.#shadow.adoptedStyleSheets = [sheet];
  }

  get isOpen(): boolean {
    return this.#view?.isOpen ?? false;
  }

  /** Shows the panel and moves the focus into it. */
  open(): void {
    this.#whenReady((view) => view.setOpen(true, true));
  }

  close(): void {
    this.#whenReady((view) => view.setOpen(false, this.matches(":focus-within")));
  }

  /** Opens the panel and sends a message as if the visitor had written it; resolves when its reply has ended. */
  async send(text: string): Promise<void> {
    await this.#ready;
    this.#view?.setOpen(true, false);
    await this.#chat?.send(String(text));
  }

  newConversation(): void {
    this.#whenReady(() => this.#chat?.startAnew());
  }

  /** Listens to `ready`, `open`, `close`, `message`, `reply`, `error` or `voice`; returns a function that stops. */
  on(name: string, listener: (detail: unknown) => void): () => void {
    // A configuration that the tab had kept was ready before anyone could listen.
    if (name === "ready" && this.#chat?.config) listener(this.#chat.config);
    const handle = (event: Event) => listener((event as CustomEvent).detail);
    this.addEventListener(`companion:${name}`, handle);
    return () => this.removeEventListener(`companion:${name}`, handle);
  }

  connectedCallback(): void {
    this.#start();
  }

  disconnectedCallback(): void {
    this.#stop();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    // An element of the page's own markup is told of each attribute before it is told that it is connected.
    if (!this.#run || !this.isConnected || before === after) return;
    // Pages switch between light and dark at any time: nothing that is under way may end by it.
    if (name === "theme") this.#view?.draw();
    else this.#start();
  }

  #whenReady(act: (view: View) => void): void {
    void this.#ready.then(() => this.#view && act(this.#view));
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

    const chat = new Chat(baseUrl, token, {
      changed: () => this.#view?.draw(),
      replied: (message) => this.#view?.follow(message),
      emit,
    });
    this.#chat = chat;
    window.addEventListener("pagehide", this.#save);
    document.addEventListener("companion:open", this.#makeRoom);
    const lang = get("lang") || document.documentElement.lang;
    const locale = loadLocale(assetsUrl, lang, get("strings"));
    // Until the companion is known there is no colour to draw the launcher in.
    this.#ready = Promise.all([locale, chat.load()]).then(([locale]) => {
      if (run !== this.#run) return;
      this.#view = createView(this.#shadow, chat, locale, {
        mode,
        assetsUrl,
        emit,
        openKey: `companion:${token}:open`,
        side: get("position") ?? (locale.strings.dir === "rtl" ? "left" : "right"),
        privacyUrl: get("privacy-url"),
        place: this.#countLaunchersBefore(),
      });
    });
  }

  #stop(): void {
    this.#run++;
    window.removeEventListener("pagehide", this.#save);
    document.removeEventListener("companion:open", this.#makeRoom);
    this.#chat?.stop();
    this.#view?.close();
    this.#chat = null;
    this.#view = null;
    this.#shadow.replaceChildren();
  }

  /** Launchers of one page stand beside one another, not in one another's place. */
  #countLaunchersBefore(): number {
    const launchers = document.querySelectorAll(`${elementName}:not([mode=inline], [mode=page])`);
    return Math.max(0, [...launchers].indexOf(this));
  }

  /** Panels stand in the same place: the one that opens is the one to be seen. */
  #makeRoom = ({ target }: Event): void => {
    if (target !== this) this.#view?.setOpen(false, false);
  };

  /** All but a reply under way is saved already, perhaps by another tab and with more in it. */
  #save = (): void => {
    if (this.#chat?.isStreaming) this.#chat.save();
  };

  #emit(name: string, detail: unknown): void {
    if (name === "error") console.warn(`${elementName}:`, detail);
    this.dispatchEvent(new CustomEvent(`companion:${name}`, { detail, bubbles: true, composed: true }));
  }
}
