/**
 * What someone writes to a visitor, until the server has it: the draft and what is being sent outlive reloads, sign-outs
 * and lost connections, and each message arrives once, since it keeps its name.
 */
import { ApiError, call, toSentence } from "../lib/api.ts";
import { keep, recall } from "../lib/browser-storage.ts";
import { resumptions } from "../lib/session.ts";
import { State } from "../lib/state.ts";
import type { ConversationWithMessages, Message } from "../lib/types.ts";

export interface Outgoing {
  clientId: string;
  text: string;
  /** The newest `seq` that was on the screen. */
  after: number;
  /** Its own, once the server has it; it stays until the transcript shows it. */
  seq?: number;
}

interface Kept {
  draft: string;
  outgoing: Outgoing[];
}

/** Why a message waits for a decision of its writer's. */
export type Refusal =
  | { why: "written"; messages: { seq: number; author: NonNullable<Message["author"]>; text: string }[] }
  | { why: "held"; person: { id: string; name: string | null } }
  | { why: "refused"; sentence: string };

const firstWaitMs = 2000;
const maxWaitMs = 30_000;
const nothing: Kept = { draft: "", outgoing: [] };

export class Outbox {
  /** As it is kept. */
  readonly kept: State<Kept>;
  readonly refusal = new State<Refusal | null>(null);
  /** Why nothing arrives at the moment; it is tried again. */
  readonly trouble = new State<string | null>(null);
  readonly #key: string;
  readonly #path: string;
  readonly #onSent: () => void;
  readonly #ended = new AbortController();
  #isSending = false;
  #waitMs = firstWaitMs;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `path`: of the conversation in the API. `onSent`: shows what has arrived. */
  constructor(personId: string, conversationId: string, path: string, onSent: () => void) {
    this.#key = `companiond-draft ${personId} ${conversationId}`;
    this.#path = path;
    this.#onSent = onSent;
    this.kept = new State(read(this.#key));
  }

  /** Goes on with what was not sent when the page was left. Returns a function that ends it. */
  begin(): () => void {
    const { signal } = this.#ended;
    const again = () => void this.#send();
    window.addEventListener("online", again, { signal });
    window.addEventListener(
      "storage",
      ({ key }) => {
        if (key === this.#key) this.kept.value = read(this.#key);
      },
      { signal },
    );
    const forget = resumptions.onChange(again);
    again();
    return () => {
      this.#ended.abort();
      forget();
      clearTimeout(this.#timer);
    };
  }

  setDraft(draft: string): void {
    this.#keep({ ...this.kept.value, draft });
  }

  /** Sends the draft. */
  submit(after: number): void {
    const { draft, outgoing } = this.kept.value;
    const text = draft.trim();
    if (text === "") return;
    this.#keep({ draft: "", outgoing: [...outgoing, { clientId: crypto.randomUUID(), text, after }] });
    void this.#send();
  }

  /** The transcript shows all messages up to this one. */
  settle(newestSeq: number): void {
    const { draft, outgoing } = this.kept.value;
    const left = outgoing.filter(({ seq }) => seq === undefined || seq > newestSeq);
    if (left.length < outgoing.length) this.#keep({ draft, outgoing: left });
  }

  /** After a refusal: beyond what the writer has seen by now. */
  sendAnyway(after: number): void {
    const { draft, outgoing } = this.kept.value;
    const first = outgoing.find(isUnsent);
    this.#keep({ draft, outgoing: outgoing.map((one) => (one === first ? { ...one, after } : one)) });
    this.refusal.value = null;
    void this.#send();
  }

  /** After a refusal: the text is a draft again. A server that refuses has kept nothing. */
  takeBack(): void {
    const { draft, outgoing } = this.kept.value;
    const texts = [...outgoing.filter(isUnsent).map(({ text }) => text), draft].filter((text) => text !== "");
    this.#keep({ draft: texts.join("\n"), outgoing: outgoing.filter((one) => !isUnsent(one)) });
    this.refusal.value = null;
    this.trouble.value = null;
  }

  #keep(kept: Kept): void {
    this.kept.value = kept;
    keep(this.#key, kept.draft === "" && kept.outgoing.length === 0 ? null : JSON.stringify(kept));
  }

  /** One after the other, in their order. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    clearTimeout(this.#timer);
    while (this.refusal.value === null && !this.#ended.signal.aborted) {
      const next = this.kept.value.outgoing.find(isUnsent);
      if (next === undefined) break;
      const { text, clientId: client_id, after } = next;
      let seq: number;
      try {
        ({ seq } = await call<{ seq: number }>("POST", `${this.#path}/messages`, { body: { text, client_id, after } }));
      } catch (error) {
        const refusal = toRefusal(error);
        this.trouble.value = refusal === null ? toSentence(error) : null;
        if (refusal !== null) this.refusal.value = refusal;
        else this.#timer = setTimeout(() => void this.#send(), this.#waitMs);
        this.#waitMs = Math.min(maxWaitMs, this.#waitMs * 2);
        break;
      }
      this.#waitMs = firstWaitMs;
      this.trouble.value = null;
      // The conversation may be open again, with another draft.
      const { outgoing, draft } = this.#ended.signal.aborted ? read(this.#key) : this.kept.value;
      this.#keep({ draft, outgoing: outgoing.map((one) => (one.clientId === client_id ? { ...one, seq } : one)) });
      this.#onSent();
    }
    this.#isSending = false;
  }
}

const isUnsent = ({ seq }: Outgoing) => seq === undefined;

/**
 * What the transcript does not show yet. The answer with a message's `seq` may come after the event that brings the
 * message: until then it is known by its writer and its words.
 */
export function findUnshown(
  outgoing: readonly Outgoing[],
  { messages, message_count }: Pick<ConversationWithMessages, "messages" | "message_count">,
  personId: string,
): Outgoing[] {
  const firstSeq = message_count - messages.length + 1;
  const named = new Set(outgoing.map(({ seq }) => seq));
  const own = messages.flatMap(({ author, text }, at) =>
    author?.member_id === personId && !named.has(firstSeq + at) ? [{ seq: firstSeq + at, text }] : [],
  );
  return outgoing.filter(({ seq, after, text }) => {
    if (seq !== undefined) return seq > message_count;
    const at = own.findIndex((message) => message.seq > after && message.text === text);
    if (at !== -1) own.splice(at, 1);
    return at === -1;
  });
}

/** Null: it may yet arrive, or has arrived. */
function toRefusal(error: unknown): Refusal | null {
  if (!(error instanceof ApiError)) return { why: "refused", sentence: toSentence(error) };
  const { status, problem } = error;
  if (status === 0 || status === 401 || status === 408 || status === 429 || status >= 500) return null;
  const { messages, person } = problem as { messages?: never; person?: { id: string; name: string | null } | null };
  if (status === 409 && Array.isArray(messages)) return { why: "written", messages };
  if (status === 409 && person) return { why: "held", person };
  return { why: "refused", sentence: toSentence(error) };
}

function read(key: string): Kept {
  try {
    const kept = JSON.parse(recall(key) ?? "null");
    return typeof kept?.draft === "string" && Array.isArray(kept.outgoing) ? kept : nothing;
  } catch {
    return nothing;
  }
}
