/** What visitors say of replies, and leave for the team: thumbs, whether it is resolved, a contact. Loaded with the first. */
import type { Rating } from "../sdk/people.ts";
import type { Announcer } from "./announcer.ts";
import type { Chat } from "./chat.ts";
import type { Message } from "./conversation.ts";
import { h, iconButton, setAttributes, textButton } from "./dom.ts";
import type { PeopleParts } from "./people-parts.ts";
import { feedbackEnglish } from "./people-strings.ts";
import type { Strings } from "./strings.ts";

const thumb = "M7 11v9H4v-9zM7 11l4-8a2 2 0 0 1 2 2v4h5.5a2 2 0 0 1 2 2.3l-1.2 6.9a2 2 0 0 1-2 1.8H7";
const reasons = ["wrong", "incomplete", "unclear", "off_topic", "other"] as const;
const maxCommentLength = 1000;
/** A visitor who reads is not asked yet. */
const quietMs = 15_000;

const sheet = new CSSStyleSheet();
sheet.replaceSync(FEEDBACK_STYLE);

function dress(element: Element): void {
  const root = element.getRootNode();
  if (root instanceof ShadowRoot && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

/** Adds thumbs to what stands below a reply; returns what draws their changes. */
export function addRating(
  foot: HTMLElement,
  message: Message,
  chat: Chat,
  words: Partial<Strings>,
  { say }: Announcer,
): () => void {
  const strings = { ...feedbackEnglish, ...words };
  const up = iconButton("copy up", thumb, strings.rateUp, () => choose("up"));
  const down = iconButton("copy down", thumb, strings.rateDown, () => choose("down"));
  const details = h("form", { class: "rating" });
  details.hidden = true;
  dress(foot);
  foot.append(up, down);
  foot.after(details);

  function draw(): void {
    setAttributes(up, { "aria-pressed": message.rating === "up" });
    setAttributes(down, { "aria-pressed": message.rating === "down" });
  }

  async function send(rating: Rating): Promise<boolean> {
    try {
      await (await chat.client.getSdk()).rate(message.id, rating);
      chat.change((kept) => kept.map((one) => (one.id === message.id ? { ...one, rating: rating.rating } : one)));
      return true;
    } catch (error) {
      // Not one that the server knows by this name.
      if (/^(not_found|conflict)$/.test(Object(error).code)) for (const part of [up, down, details]) part.remove();
      else say(strings.rateFailed);
      return false;
    }
  }

  async function choose(thumb: "up" | "down"): Promise<void> {
    const rating = message.rating === thumb ? null : thumb;
    details.hidden = true;
    if (!(await send({ rating })) || !rating) return;
    say(strings.rateThanks);
    ask(rating);
  }

  /** For the reasons, and words of one's own: nothing of it has to be given. */
  function ask(rating: "up" | "down"): void {
    const chosen = new Set<(typeof reasons)[number]>();
    const pills = reasons.map((reason) => {
      const pill = textButton("pill", strings[reason === "incomplete" ? "isIncomplete" : reason], () => {
        if (!chosen.delete(reason)) chosen.add(reason);
        setAttributes(pill, { "aria-pressed": chosen.has(reason) });
      });
      setAttributes(pill, { "aria-pressed": false });
      return pill;
    });
    const comment = h("textarea", { rows: 2, maxlength: maxCommentLength, placeholder: strings.comment, dir: "auto" });
    setAttributes(comment, { "aria-label": strings.comment });
    const submit = h("button", { class: "done" }, strings.sendFeedback);
    const group = h("div", { class: "pills", role: "group", "aria-label": strings.rateWhy }, ...pills);
    const why = rating === "down" ? [h("div", { "aria-hidden": "true" }, strings.rateWhy), group] : [];
    details.replaceChildren(...why, comment, submit);
    details.hidden = false;
    details.onsubmit = async (event) => {
      event.preventDefault();
      const words = comment.value.trim();
      if (!(await send({ rating, reasons: [...chosen], ...(words && { comment: words }) }))) return;
      const hadFocus = details.matches(":focus-within");
      details.replaceChildren(h("span", { tabindex: -1 }, strings.rateThanks));
      if (hadFocus) (details.firstChild as HTMLElement).focus();
      say(strings.rateThanks);
    };
  }

  draw();
  return draw;
}

/** The question whether it is resolved, below the last reply; returns what draws it. */
export function createQuestion({ chat, strings: words, announcer, host, read, write }: PeopleParts): () => void {
  const strings = { ...feedbackEnglish, ...words };
  const sentence = h("span", { tabindex: -1 }, strings.resolvedAsk);
  const yes = textButton("pill", strings.resolvedYes, () => void answer(true));
  const no = textButton("pill", strings.resolvedNo, () => void answer(false));
  const element = h("div", { class: "resolved", role: "group", "aria-label": strings.resolvedAsk }, sentence, yes, no);
  element.hidden = true;
  host.box.querySelector(".log .notice")?.before(element);
  dress(host.box);
  let timer = 0;
  /** The reply below which it stands. */
  let after = "";

  async function answer(isResolved: boolean): Promise<void> {
    try {
      await (await chat.client.getSdk()).setResolved(isResolved);
      write({ resolvedAfter: after });
      sentence.textContent = strings.rateThanks;
      yes.hidden = no.hidden = true;
      sentence.focus();
    } catch {
      sentence.textContent = strings.rateFailed;
    }
    announcer.say(sentence.textContent ?? "");
  }

  return () => {
    const now = chat.messages.at(-1);
    const isEnd = now?.role === "assistant" && now.state === "done" && !chat.isHeld && !now.asks;
    const end = isEnd ? now.id : "";
    if (end && end === after) return;
    after = end;
    clearTimeout(timer);
    element.hidden = true;
    if (!end || read().resolvedAfter === end) return;
    timer = window.setTimeout(() => {
      sentence.textContent = strings.resolvedAsk;
      yes.hidden = no.hidden = element.hidden = false;
    }, quietMs);
  };
}

/** The form for a contact, at the end of the conversation. */
export function openForm({ chat, strings: words, announcer, host, write }: PeopleParts): void {
  const strings = { ...feedbackEnglish, ...words };
  host.box.querySelector(".contact")?.remove();
  const email = h("input", { type: "email", required: "", maxlength: 254, autocomplete: "email" });
  const name = h("input", { maxlength: 100, autocomplete: "name", dir: "auto" });
  const message = h("textarea", { rows: 3, maxlength: 2000, dir: "auto" });
  const consent = h("input", { type: "checkbox", required: "" });
  const trouble = h("div", { class: "trouble" });
  const submit = h("button", { class: "done" }, strings.contactSend);
  const field = (label: string, input: HTMLElement) => h("label", {}, h("span", {}, label), input);
  const form = h(
    "form",
    { class: "contact", "aria-label": words.leaveContact },
    field(strings.contactEmail, email),
    field(strings.contactName, name),
    field(strings.contactMessage, message),
    h(
      "label",
      { class: "consent" },
      consent,
      h("span", { dir: "auto" }, chat.source.config?.leads?.consent_text ?? ""),
    ),
    trouble,
    h("div", { class: "pills" }, submit, textButton("pill", strings.contactClose, close)),
  );

  function close(): void {
    const hadFocus = form.matches(":focus-within");
    form.remove();
    if (hadFocus) host.box.focus();
  }

  form.onsubmit = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    trouble.textContent = "";
    try {
      await (await chat.client.getSdk()).leaveContact({
        ...{ email: email.value.trim(), consent: true },
        ...(name.value.trim() && { name: name.value.trim() }),
        ...(message.value.trim() && { message: message.value.trim() }),
      });
      form.replaceChildren(h("div", { tabindex: -1 }, strings.contactSent));
      (form.firstChild as HTMLElement).focus();
      announcer.say(strings.contactSent);
      // From a contact on people may write: it is asked for when the panel is opened again.
      write({ at: Date.now() });
    } catch {
      trouble.textContent = strings.rateFailed;
      announcer.say(strings.rateFailed);
      submit.disabled = false;
    }
  };

  host.box.querySelector(".log .notice")?.before(form);
  dress(form);
  email.focus();
}
