/**
 * What a reply shows of the texts that its events bring: well-formed Unicode without NUL, and nothing that no one is to
 * read, which are thoughts that open the reply, and all that follows a stop text.
 */

/** The longer one first: the shorter one is no beginning of it, and a beginning of both may become either. */
const openingTags = ["<thinking>", "<think>"] as const;

/** Shared by the thousands of replies that hold nothing. */
const none: readonly string[] = [];

export class ReplyText {
  /** Whether anything is shown so far. */
  hasContent = false;
  /** There was a stop text: the reply has ended before it, and nothing is shown any more. */
  isStopped = false;
  /** Bytes in UTF-8 of thoughts in the text. */
  hiddenBytes = 0;
  /** Of all that came, in UTF-16 units. */
  units = 0;
  /** None is empty. */
  readonly #stops: readonly string[];
  #phase: "opening" | "hidden" | "gap" | "shown" = "opening";
  /** The first half of a surrogate pair: vendors that escape may split between the halves. */
  #highSurrogate = "";
  /** Deltas that may be white space before thoughts, or the beginning of their tag. */
  #held: string[] | null = null;
  /** What of them is not white space. */
  #lead = "";
  #closingTag = "";
  /** The end of what was read, in which a closing tag or a stop text may have begun. */
  #tail = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.length === 0 ? none : stops.filter((stop) => stop !== "");
  }

  get endsInHalf(): boolean {
    return this.#highSurrogate !== "";
  }

  /** Adds what is shown to `deltas`. */
  push(text: string, deltas: string[]): void {
    let whole = text;
    if (this.#highSurrogate !== "" || !text.isWellFormed()) {
      whole = this.#highSurrogate + text;
      this.#highSurrogate = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      whole = whole.slice(0, whole.length - this.#highSurrogate.length).toWellFormed();
    }
    // Not every store can keep a NUL.
    if (whole.includes("\0")) whole = whole.replaceAll("\0", "");
    if (whole === "") return;
    this.units += whole.length;
    if (this.#phase === "shown") this.#show(whole, deltas);
    else this.hiddenBytes += this.#scan(whole, deltas);
  }

  /** Nothing follows: adds what was held back, which is text after all. Of thoughts without an end nothing is. */
  release(deltas: string[]): void {
    if (this.#phase === "opening") this.#decide(deltas);
    if (this.#phase !== "shown" || this.#tail === "") return;
    this.#add(this.#tail, deltas);
    this.#tail = "";
  }

  #add(text: string, deltas: string[]): void {
    this.hasContent = true;
    deltas.push(text);
  }

  /** Returns how many bytes in UTF-8 were thoughts. */
  #scan(text: string, deltas: string[]): number {
    if (this.#phase === "hidden") return this.#hide(text, deltas);
    if (this.#phase === "opening") return this.#open(text, deltas);
    this.#skipGap(text, deltas);
    return 0;
  }

  #open(text: string, deltas: string[]): number {
    if (this.#held === null) this.#held = [text];
    else this.#held.push(text);
    this.#lead += this.#lead === "" ? text.trimStart() : text;
    const lead = this.#lead;
    const tag = openingTags.find((one) => lead.startsWith(one));
    if (tag !== undefined) {
      this.#phase = "hidden";
      this.#closingTag = `</${tag.slice(1)}`;
      this.#held = null;
      this.#lead = "";
      return Buffer.byteLength(tag) + this.#hide(lead.slice(tag.length), deltas);
    }
    if (!openingTags.some((one) => one.startsWith(lead))) this.#decide(deltas);
    return 0;
  }

  #decide(deltas: string[]): void {
    this.#phase = "shown";
    for (const text of this.#held ?? []) this.#show(text, deltas);
    this.#held = null;
    this.#lead = "";
  }

  #hide(text: string, deltas: string[]): number {
    const seen = this.#tail + text;
    const end = seen.indexOf(this.#closingTag);
    if (end === -1) {
      this.#tail = seen.slice(1 - this.#closingTag.length);
      return Buffer.byteLength(text);
    }
    this.#tail = "";
    this.#phase = "gap";
    const rest = seen.slice(end + this.#closingTag.length);
    this.#skipGap(rest, deltas);
    return Buffer.byteLength(text) - Buffer.byteLength(rest);
  }

  #skipGap(text: string, deltas: string[]): void {
    const shown = text.trimStart();
    if (shown === "") return;
    this.#phase = "shown";
    this.#show(shown, deltas);
  }

  #show(text: string, deltas: string[]): void {
    if (this.#stops.length === 0) this.#add(text, deltas);
    else if (!this.isStopped) this.#showUpToStop(this.#tail + text, deltas);
  }

  #showUpToStop(seen: string, deltas: string[]): void {
    let end = seen.length;
    for (const stop of this.#stops) {
      const at = seen.indexOf(stop);
      if (at !== -1 && at < end) {
        end = at;
        this.isStopped = true;
      }
    }
    if (!this.isStopped) end = this.#findPossibleStop(seen);
    this.#tail = this.isStopped ? "" : seen.slice(end);
    if (end > 0) this.#add(seen.slice(0, end), deltas);
  }

  /** Where the first stop text may have begun that the end of the text cuts off; its length if none has. */
  #findPossibleStop(seen: string): number {
    let first = seen.length;
    for (const stop of this.#stops) {
      for (let at = Math.max(0, seen.length - stop.length + 1); at < first; at++) {
        if (seen[at] === stop[0] && stop.startsWith(seen.slice(at))) first = at;
      }
    }
    return first;
  }
}
