/** A call that waits for the visitor: a card that shows what would be done, with two buttons. Loaded with the first one. */
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import { drawArguments } from "./confirm-arguments.ts";
import { confirmEnglish } from "./confirm-strings.ts";
import type { AskedCall, Message } from "./conversation.ts";
import { h, setAttributes, textButton } from "./dom.ts";
import { describe, toProblem } from "./problem.ts";
import { fill, type Strings } from "./strings.ts";

const confirmableMs = 10 * 60_000;

const sheet = new CSSStyleSheet();
sheet.replaceSync(CONFIRM_STYLE);

/** Adds the card to a message that is drawn already; returns what draws its changes. */
export function createCard(
  row: HTMLElement,
  message: Message,
  chat: Chat,
  words: Strings,
  { say }: Announcer,
): () => void {
  const strings = { ...confirmEnglish, ...words };
  // Other tabs and scripts can write where it was kept: each read may find another one, or a broken one.
  const asked = () => Object(message.asks) as AskedCall;
  const title = String(asked().title);
  let trouble = "";
  let isSending = false;
  let timer = 0;

  const details = h("div", { class: "details" });
  const more = textButton("more", "", () => drawDetails(more.ariaExpanded === "false"));
  const yes = textButton("yes", strings.confirmYes, () => choose(true));
  const no = textButton("no", strings.confirmNo, () => choose(false));
  const buttons = h("div", { class: "choice" }, yes, no);
  const outcome = h("div", { class: "outcome" });
  const element = h(
    "div",
    { class: "card", role: "group", tabindex: -1, "aria-label": `${strings.confirmAsk} ${title}` },
    h("div", { class: "label" }, strings.confirmAsk),
    h("div", { class: "what" }, h("bdi", {}, title)),
    details,
    more,
    buttons,
    outcome,
  );

  function drawDetails(isWhole: boolean): void {
    const isCut = drawArguments(details, asked().arguments, strings, isWhole);
    more.textContent = isWhole ? strings.showLess : strings.showAll;
    more.ariaExpanded = String(isWhole);
    more.hidden = !isCut && !isWhole;
  }

  const leftMs = () => asked().at + confirmableMs - Date.now();
  const findOutcome = () => asked().choice ?? (leftMs() > 0 ? null : "expired");

  function draw(): void {
    const hadFocus = buttons.matches(":focus-within");
    const end = findOutcome();
    // While the reply begins, the pressed button keeps the focus.
    isSending &&= chat.isStreaming;
    buttons.hidden = !!end && !isSending;
    for (const button of [yes, no]) setAttributes(button, { "aria-disabled": !!end || chat.isStreaming });
    if (hadFocus && buttons.hidden) leaveButtons();
    outcome.textContent = end ? strings[end] : trouble;
    outcome.hidden = !outcome.textContent;
    clearTimeout(timer);
    if (!end) timer = window.setTimeout(expire, leftMs());
  }

  /** To where the visitor writes; on touch screens the keyboard would cover the reply. */
  function leaveButtons(): void {
    const input = matchMedia("(pointer: coarse)").matches
      ? null
      : root.querySelector<HTMLElement>(".composer textarea");
    (input?.offsetParent ? input : element).focus();
  }

  function expire(): void {
    draw();
    if (element.offsetParent) say(outcome.textContent ?? "");
  }

  function choose(approve: boolean): void {
    if (findOutcome() || chat.isStreaming) return;
    isSending = true;
    trouble = "";
    asked().choice = approve ? "confirmed" : "declined";
    say(strings[approve ? "confirmed" : "declined"]);
    chat.decide(message, { callId: asked().call_id, approve, fail });
  }

  function fail(error: unknown, reply: Message): unknown {
    message.isFinal = true;
    if (!error) return null;
    const { code, retryAt } = toProblem(error);
    // The server has begun with it: what failed came afterwards.
    if (reply.text || reply.asks || reply.work !== undefined || code === "upstream_error") return error;
    const isGone = code === "not_found" || leftMs() <= 0;
    asked().choice = isGone ? "expired" : code === "conflict" ? "decided" : undefined;
    if (!asked().choice) trouble = fill(describe(code, strings), Math.ceil((retryAt - Date.now()) / 1000));
    say(asked().choice ? strings[isGone ? "expired" : "decided"] : trouble);
    return null;
  }

  drawDetails(false);
  row.append(element);
  const root = row.getRootNode() as ShadowRoot | Element;
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
  draw();
  if (!findOutcome() && element.offsetParent) say(`${strings.confirmAsk} ${title}`);
  return draw;
}
