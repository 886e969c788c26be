/** Where the visitor writes: grows with the text, sends on Enter, counts near the limit, becomes a stop button. */
import type { Announcer } from "./announcer.ts";
import { type Chat, maxMessageLength } from "./chat.ts";
import { dressButton, h, iconButton, icons, setAttributes } from "./dom.ts";
import { createDrafts } from "./drafts.ts";
import { fill, type Strings } from "./strings.ts";

export interface Composer {
  element: HTMLElement;
  input: HTMLTextAreaElement;
  draw(): void;
  /** Makes the field as high as its text, where the browser does not do that automatically. */
  fit(): void;
  /** Shows what was written last in the conversation of now; `isOther`: the visitor has just gone to it. */
  restore(isOther: boolean): void;
}

const countFrom = 200;

export function createComposer(chat: Chat, strings: Strings, announcer: Announcer, token: string): Composer {
  const input = h("textarea", {
    rows: 1,
    placeholder: strings.placeholder,
    "aria-label": strings.placeholder,
    enterkeyhint: "send",
    autocomplete: "off",
  });
  const count = h("div", { class: "count" });
  const button = iconButton("send", icons.send, strings.send, () => (chat.isStreaming ? chat.stop() : submit()));
  const element = h("form", { class: "composer" }, h("div", { class: "field" }, input, button), count);
  const drafts = createDrafts(token);
  let announced = 0;

  const noteDraft = () => {
    if (!chat.client.isForeign) drafts.keep(chat.client.sessionId, input.value);
  };

  function submit(): void {
    const text = input.value.trim();
    if (chat.isBusy || !text || [...text].length > maxMessageLength) return;
    input.value = "";
    noteDraft();
    void chat.send(text);
    draw();
    input.focus();
  }

  function restore(isOther: boolean): void {
    // Asking for the conversation's name makes one: nothing is kept for a visitor who only reads.
    if (isOther || chat.client.hasSession) input.value = drafts.find(chat.client.sessionId);
    draw();
  }

  function fit(): void {
    if (CSS.supports("field-sizing", "content")) return;
    input.style.height = "";
    // A hidden element has no height to measure.
    if (input.scrollHeight > 0) input.style.height = `${input.scrollHeight}px`;
  }

  function draw(): void {
    const { isStreaming } = chat;
    button.classList.toggle("stop", isStreaming);
    if (isStreaming) dressButton(button, icons.stop, strings.stop);
    else dressButton(button, icons.send, strings.send);
    const text = input.value.trim();
    // By the text, once there is one; before, the placeholder has the interface's direction.
    input.dir = text && "auto";
    const left = maxMessageLength - [...text].length;
    // Not `disabled`: the focus would be lost whenever a reply begins or ends.
    setAttributes(button, { "aria-disabled": !isStreaming && (!text || left < 0 || chat.isBusy) });
    count.hidden = left > countFrom;
    count.classList.toggle("over", left < 0);
    setAttributes(input, { "aria-invalid": left < 0 });
    count.textContent = fill(left < 0 ? strings.over : strings.left, Math.abs(left));
    // Announced when a threshold is crossed, not at every keystroke.
    const level = left < 0 ? 2 : left > countFrom ? 0 : 1;
    if (level > announced) announcer.say(count.textContent);
    announced = level;
    fit();
  }

  element.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  input.oninput = () => {
    noteDraft();
    draw();
  };
  input.onkeydown = (event) => {
    // While an input method composes, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  };
  return { element, input, draw, fit, restore };
}
