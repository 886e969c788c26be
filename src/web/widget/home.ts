/** Home: what a visitor who comes back after a while sees first, the earlier conversations and a new one. */
import type { Chat } from "./chat.ts";
import type { Previous } from "./conversation.ts";
import { h, textButton } from "./dom.ts";
import { homeEnglish } from "./home-strings.ts";
import type { PanelHost } from "./panel-host.ts";
import type { Strings } from "./strings.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(HOME_STYLE);

/** From the longest to the shortest, in milliseconds. */
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;
const now = ["second", Number.POSITIVE_INFINITY] as const;

export interface Home {
  element: HTMLElement;
  /** What it lists has become another visitor's, or another tab has changed it: it is left. */
  draw(): void;
}

/** Draws it instead of the conversation; `leave` is called as soon as the visitor has chosen. */
export function showHome(
  chat: Chat,
  words: Strings,
  host: PanelHost,
  greet: typeof import("./greeting.ts").greet,
  leave: () => void,
): Home | undefined {
  const { shadow, box, lang, source } = host;
  const strings = { ...homeEnglish, ...words };
  if (!shadow.adoptedStyleSheets.includes(sheet)) shadow.adoptedStyleSheets.push(sheet);
  const format = new Intl.RelativeTimeFormat(lang, { style: "narrow", numeric: "auto" });

  function formatAge(at: number): string {
    const ageMs = Math.max(0, Date.now() - at);
    const [unit, size] = units.find(([, size]) => ageMs >= size) ?? now;
    return format.format(-Math.floor(ageMs / size), unit);
  }

  function choose(act: () => void): void {
    act();
    leave();
  }

  function card({ messages }: Pick<Previous, "messages">, className: string, label: string, act: () => void) {
    const title = messages.find(({ role }) => role === "user") ?? messages[0];
    const button = textButton(className, "", () => choose(act));
    button.append(
      ...(label ? [h("span", { class: "label" }, label)] : []),
      h("span", { class: "about", dir: "auto" }, title?.text.slice(0, 200) ?? ""),
      h("span", { class: "age" }, formatAge(messages.at(-1)?.at ?? 0)),
    );
    return button;
  }

  const current = chat.messages.length ? [{ messages: chat.messages, sessionId: "" }] : [];
  const [newest, ...rest] = [...current, ...chat.earlier];
  if (!newest) return undefined;
  const go = ({ sessionId }: Previous) => sessionId && chat.goBack(sessionId);
  const earlier = rest.slice(0, 5).map((one) =>
    h(
      "li",
      {},
      card(one, "earlier", "", () => go(one)),
    ),
  );
  const element = h(
    "div",
    { class: "home" },
    h("p", { class: "hello", dir: "auto" }, source.config ? greet(source.config, shadow.host, words) : ""),
    card(newest, "continue", strings.continue, () => go(newest)),
    textButton("fresh", strings.restart, () => choose(() => chat.messages.length && chat.restart())),
    ...(earlier.length ? [h("h2", {}, strings.earlier), h("ul", {}, ...earlier)] : []),
  );
  box.querySelector(".log")?.before(element);
  const listed = () => [chat.messages[0]?.id, ...chat.earlier.map(({ sessionId }) => sessionId)].join();
  const shown = listed();
  return {
    element,
    draw() {
      if (element.isConnected && listed() !== shown) leave();
    },
  };
}
