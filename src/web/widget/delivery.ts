/** What a visitor's message says of its delivery: that it was not delivered, with another try, or that it still waits. */
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { h, textButton } from "./dom.ts";
import type { Strings } from "./strings.ts";

/** Returns the line, empty where there is nothing to say, and what draws it. */
export function createDelivery(message: Message, chat: Chat, strings: Strings): { element: HTMLElement; draw(): void } {
  const element = h("div", { class: "delivery" });
  const retry = textButton("again", strings.retry, () => void chat.retry(message.id));
  const remove = textButton("again", strings.remove, () =>
    chat.change((kept) => kept.filter(({ id, state }) => id !== message.id || state !== "waiting")),
  );
  let drawn = "";

  return {
    element,
    draw() {
      const { state } = message;
      if (state === drawn) return;
      drawn = state;
      element.hidden = !/failed|waiting/.test(state);
      element.classList.toggle("over", state === "failed");
      element.replaceChildren(
        state === "failed" ? strings.notDelivered : strings.waitsToSend,
        " · ",
        state === "failed" ? retry : remove,
      );
    },
  };
}
