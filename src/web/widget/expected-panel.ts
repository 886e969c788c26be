/** What stands in the panel's box until its content has come: whose chat it is, as far as that is known. */
import type { CompanionConfig } from "../sdk/connection.ts";
import { h } from "./dom.ts";
import type { launcherEnglish } from "./launcher-strings.ts";

/** Draws the header, and lines where the greeting will be. */
export function drawExpected(box: HTMLElement, config: CompanionConfig | null, strings: typeof launcherEnglish): void {
  const { name = "", avatar_url: src } = config ?? {};
  box.replaceChildren(
    h(
      "header",
      {},
      h("img", { alt: "", referrerpolicy: "no-referrer", ...(src ? { src } : { hidden: "" }) }),
      h(
        "div",
        { class: "title" },
        h("div", { class: "name" }, name),
        h("div", { class: "subtitle" }, strings.assistant),
      ),
    ),
    h("div", { class: "wait", role: "status" }, strings.loading),
  );
}
