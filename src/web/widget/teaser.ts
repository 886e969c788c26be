/** The teaser: one line beside the closed launcher, shown once it is time, until the visitor opens or dismisses it. */
import { h, iconButton, icons, textButton } from "./dom.ts";

export interface Teased {
  text: string;
  after_seconds: number;
}

export interface Teaser {
  /** Null: none is shown now. */
  draw(teased: Teased | null): void;
}

const sheet = new CSSStyleSheet();
sheet.replaceSync(TEASER_STYLE);

/** `open` opens the chat, `end` takes note that the visitor wants no more of it. */
export function createTeaser(shadow: ShadowRoot, dismiss: string, open: () => void, end: () => void): Teaser {
  const line = textButton("line", "", open);
  line.dir = "auto";
  const shut = iconButton("dismiss", icons.close, dismiss, () => {
    end();
    draw(null);
    shadow.querySelector<HTMLElement>(".launcher")?.focus();
  });
  const element = h("div", { class: "teaser" }, line, shut);
  let shown = "";
  let timer = 0;
  if (!shadow.adoptedStyleSheets.includes(sheet)) shadow.adoptedStyleSheets.push(sheet);

  function draw(teased: Teased | null): void {
    const text = teased?.text ?? "";
    if (text === shown) return;
    shown = text;
    clearTimeout(timer);
    element.remove();
    line.textContent = text;
    if (teased)
      timer = window.setTimeout(() => shadow.querySelector(".root")?.append(element), teased.after_seconds * 1000);
  }

  return { draw };
}
