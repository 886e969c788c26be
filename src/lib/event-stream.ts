/** Reads server-sent events (HTML standard, section 9.2), wherever their bytes are split. */
import { GatheredText } from "./gathered-text.ts";

/** Takes bytes and gives data of whole events. Bounds are the caller's: it holds what has come of one event. */
export class EventStreamReader {
  /** Takes a byte order mark away, and replaces what is not UTF-8. */
  readonly #decoder = new TextDecoder();
  #line = new GatheredText();
  #data: string[] = [];
  #name = "";
  /** The last line ended with a carriage return, so that a line feed that follows belongs to it. */
  #endsInReturn = false;

  /** The data of those events that end in these bytes; of the type `message` alone, and none that is empty. */
  feed(bytes: Uint8Array): string[] {
    const events: string[] = [];
    const text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return events;
    let start = this.#endsInReturn && text.startsWith("\n") ? 1 : 0;
    this.#endsInReturn = text.endsWith("\r");
    for (const { 0: ending, index } of text.matchAll(/\r\n|\n|\r/g)) {
      if (index < start) continue;
      this.#line.add(text.slice(start, index));
      start = index + ending.length;
      this.#endLine(events);
    }
    if (start < text.length) this.#line.add(text.slice(start));
    return events;
  }

  #endLine(events: string[]): void {
    const line = this.#line.toString();
    this.#line = new GatheredText();
    if (line === "") {
      const data = this.#data.join("\n");
      if (data !== "" && (this.#name === "" || this.#name === "message")) events.push(data);
      this.#data = [];
      this.#name = "";
      return;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#name = value;
  }
}
