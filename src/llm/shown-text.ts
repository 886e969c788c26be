/** Keeps from a reply's text what nobody is to read: thoughts that open it, and all that follows a stop text. */

/** The longer one first: the shorter one is no beginning of it, and a beginning of both may become either. */
const openingTags = ["<thinking>", "<think>"] as const;

export class ShownText {
  /** There was a stop text: the reply has ended before it. */
  isStopped = false;
  readonly #stops: readonly string[];
  #phase: "opening" | "hidden" | "gap" | "shown" = "opening";
  /** Deltas that may be white space before thoughts, or the beginning of their tag. */
  #held: string[] = [];
  /** What of them is not white space. */
  #lead = "";
  #closingTag = "";
  /** The end of what was read, in which a closing tag or a stop text may have begun. */
  #tail = "";

  constructor(stops: readonly string[]) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** Whether all that follows is shown as it is, so that nobody has to ask any more. */
  get isTransparent(): boolean {
    return this.#phase === "shown" && this.#stops.length === 0;
  }

  /** Adds what is shown to `deltas`; returns how many bytes in UTF-8 were thoughts. */
  take(text: string, deltas: string[]): number {
    if (this.isStopped) return 0;
    if (this.#phase === "shown") this.#show(text, deltas);
    else if (this.#phase === "gap") this.#skipGap(text, deltas);
    else if (this.#phase === "hidden") return this.#hide(text, deltas);
    else return this.#open(text, deltas);
    return 0;
  }

  /** Nothing follows: what was held back is text after all. Of thoughts without an end nothing is. */
  release(deltas: string[]): void {
    if (this.#phase === "opening") this.#decide(deltas);
    if (this.#phase !== "shown" || this.#tail === "") return;
    if (!this.isStopped) deltas.push(this.#tail);
    this.#tail = "";
  }

  #open(text: string, deltas: string[]): number {
    this.#held.push(text);
    this.#lead += this.#lead === "" ? text.trimStart() : text;
    const lead = this.#lead;
    const tag = openingTags.find((one) => lead.startsWith(one));
    if (tag !== undefined) {
      this.#phase = "hidden";
      this.#closingTag = `</${tag.slice(1)}`;
      this.#held = [];
      this.#lead = "";
      return Buffer.byteLength(tag) + this.#hide(lead.slice(tag.length), deltas);
    }
    if (!openingTags.some((one) => one.startsWith(lead))) this.#decide(deltas);
    return 0;
  }

  #decide(deltas: string[]): void {
    this.#phase = "shown";
    for (const text of this.#held) this.#show(text, deltas);
    this.#held = [];
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
    if (this.isStopped) return;
    if (this.#stops.length === 0) {
      deltas.push(text);
      return;
    }
    const seen = this.#tail + text;
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
    if (end > 0) deltas.push(seen.slice(0, end));
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
