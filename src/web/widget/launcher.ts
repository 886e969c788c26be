/** The launcher: a round button with an icon or the companion's picture, and how many messages are unread. */
import type { CompanionConfig } from "../sdk/connection.ts";
import { dressButton, h, icons, setAttributes } from "./dom.ts";
import type { launcherEnglish } from "./launcher-strings.ts";

interface LauncherHost {
  config(): CompanionConfig | null;
  isOpen(): boolean;
  press(): void;
  getKept(name: string): string;
  keep(name: string, text: string): void;
}

export function createLauncher(strings: typeof launcherEnglish, host: LauncherHost) {
  const button = h("button", { type: "button", class: "launcher", "aria-controls": "panel" });
  button.onclick = host.press;
  const face = h("img", { alt: "", referrerpolicy: "no-referrer" });
  let failed = "";
  face.onerror = () => {
    failed = face.src;
    draw();
  };
  /** Messages of people; of replies the count is kept, for all tabs and the next page. */
  let unread = 0;
  const isSeen = () => host.isOpen() && !document.hidden;
  const countMissed = () => Number(host.getKept("unread")) || 0;

  function draw(): void {
    if (isSeen() && countMissed()) host.keep("unread", "");
    const isOpen = host.isOpen();
    const count = unread + countMissed();
    const sentence = count ? `. ${strings.unread.replace("{count}", String(count))}` : "";
    setAttributes(button, { "aria-expanded": isOpen, "data-unread": count || "" });
    dressButton(button, isOpen ? icons.down : icons.chat, isOpen ? strings.close : strings.open + sentence);
    const { avatar_url, appearance } = host.config() ?? {};
    if (isOpen || appearance?.icon !== "avatar" || !avatar_url) return;
    // The same one again would be loaded again.
    if (face.getAttribute("src") !== avatar_url) face.src = avatar_url;
    if (face.src !== failed) button.replaceChildren(face);
  }

  return {
    button,
    draw,
    mark(count: number): void {
      unread = count;
      draw();
    },
    miss(): void {
      if (isSeen()) return;
      host.keep("unread", String(countMissed() + 1));
      draw();
    },
  };
}
