/** Where the visitor writes: grows with the text, sends on Enter, counts near the limit, becomes a stop button. */
import type { Announcer } from "./announcer.ts";
import { type Chat, maxMessageLength } from "./chat.ts";
import { h, icon, iconButton, icons, labelButton } from "./dom.ts";
import type { Strings } from "./strings.ts";
import { fill } from "./strings.ts";

export interface Composer {
  element: HTMLElement;
  input: HTMLTextAreaElement;
  draw(): void;
}

const countFrom = 200;
const tallestPx = 140;

export function createComposer(chat: Chat, strings: Strings, announcer: Announcer): Composer {
  const input = h("textarea", {
    rows: 1,
    placeholder: strings.placeholder,
    "aria-label": strings.message,
    enterkeyhint: "send",
    autocomplete: "off",
    dir: "auto",
  });
  const count = h("div", { class: "count", hidden: true });
  const button = iconButton("send", icons.send, strings.send, () => (chat.isStreaming ? chat.stop() : submit()));
  const element = h("form", { class: "composer" }, h("div", { class: "field" }, input, button), count);
  let wasStreaming = false;
  let told = "";

  function submit(): void {
    const text = input.value.trim();
    if (chat.isStreaming || !text || [...text].length > maxMessageLength) return;
    input.value = "";
    void chat.send(text);
    draw();
    input.focus();
  }

  function draw(): void {
    const { isStreaming } = chat;
    if (isStreaming !== wasStreaming) {
      wasStreaming = isStreaming;
      button.replaceChildren(icon(isStreaming ? icons.stop : icons.send));
      button.className = isStreaming ? "send stop" : "send";
      labelButton(button, isStreaming ? strings.stop : strings.send);
    }
    const text = input.value.trim();
    const left = maxMessageLength - [...text].length;
    // Not `disabled`: the focus would be lost whenever a reply begins or ends.
    button.setAttribute("aria-disabled", String(!isStreaming && (!text || left < 0)));
    count.hidden = left > countFrom;
    input.setAttribute("aria-invalid", String(left < 0));
    count.textContent = fill(left < 0 ? strings.charactersOver : strings.charactersLeft, { count: Math.abs(left) });
    // Told when a threshold is crossed, not at every key.
    const threshold = left < 0 ? "over" : left <= 20 ? "few" : left <= countFrom ? "near" : "";
    if (threshold && threshold !== told) announcer.say(count.textContent);
    told = threshold;
    input.style.height = "auto";
    if (input.scrollHeight) input.style.height = `${Math.min(input.scrollHeight, tallestPx)}px`;
  }

  element.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  input.oninput = draw;
  input.onkeydown = (event) => {
    // While an input method composes, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  };
  return { element, input, draw };
}
