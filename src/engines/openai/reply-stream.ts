/**
 * Parses a stream of events from the provider's bytes, wherever they are split; no I/O, nothing asynchronous. How an
 * event is interpreted is up to its wire.
 *
 * Bytes are characters 0 to 255: the structure of a stream is ASCII, and only visible text needs decoding.
 */
import { ProviderFailure, type ProviderFailureOptions, reported } from "../../contracts/llm/provider-failure.ts";
import type { CountedTokens } from "../../domain/usage.ts";
import { ReplyText } from "./reply-text.ts";
import { streamLimits } from "./stream-limits.ts";
import type { EventReader } from "./wire.ts";

export class ReplyStream {
  /** Everything after it is ignored: there was an end mark, a stop text, a failure, or the end of the body. */
  isDone = false;
  hasDoneMark = false;
  finishReason: string | null = null;
  usage: CountedTokens | null = null;
  failure: ProviderFailure | null = null;

  readonly reader: EventReader;
  readonly #limits: typeof streamLimits;
  readonly #maxLineBytes: number;
  readonly #text: ReplyText;
  #reasoningBytes = 0;
  /** Since the last text. */
  #wordlessBytes = 0;
  /** Judged by the first character, since the Content-Type of other documents is often wrong. */
  #form: "unknown" | "events" | "document" = "unknown";
  /** The line that the last read cut off; or the whole document so far. */
  #pending = "";
  #eventName = "";
  /** The data lines of an event whose first line is not JSON on its own: parsed once, at its end. */
  #eventLines: string[] = [];
  #eventBytes = 0;
  /** The rest of the line at hand is dropped. */
  #isSkipping = false;

  /** `stops`: texts before which the reply ends, where the provider does not see to it. */
  constructor(reader: EventReader, stops: readonly string[] = [], limits = streamLimits) {
    this.reader = reader;
    this.#limits = limits;
    this.#maxLineBytes = reader.maxLineBytes ?? limits.maxLineBytes;
    this.#text = new ReplyText(stops);
  }

  /** Whether anything came that makes an event; a reply without it is empty. */
  get hasContent(): boolean {
    return this.#text.hasContent;
  }

  /** Thoughts in UTF-8, which are no content. */
  get reasoningBytes(): number {
    return this.#reasoningBytes + this.#text.hiddenBytes;
  }

  /** Whether the reply ended before a stop text, and the provider may go on. */
  get isStopped(): boolean {
    return this.#text.isStopped;
  }

  /** Whether the text so far ends with the first half of a surrogate pair, which is held back. */
  get endsInHalf(): boolean {
    return this.#text.endsInHalf;
  }

  /** The text deltas in the data of one read: none empty, all well-formed, without NUL. */
  feed(bytes: string): string[] {
    const deltas: string[] = [];
    if (this.isDone) return deltas;
    const fresh = this.#form === "unknown" ? this.#recognise(bytes) : bytes;
    if (this.#form === "events") this.#readEvents(fresh, deltas);
    else this.#pending += fresh;
    const limit = this.#form === "document" ? this.#limits.maxTextUnits : this.#maxLineBytes;
    if (this.#pending.length > limit) this.#fail("a line is too long");
    if (deltas.length > 0) this.#wordlessBytes = 0;
    else this.#limitWordless(bytes.length + this.#limits.leastBytes);
    return deltas;
  }

  /** The provider closed the body: an unfinished last line still counts. */
  end(): string[] {
    const deltas: string[] = [];
    if (this.isDone) return deltas;
    const rest = this.#pending;
    this.#pending = "";
    if (this.#form === "events") {
      if (rest !== "") this.#readLine(rest.endsWith("\r") ? rest.slice(0, -1) : rest, deltas);
      if (!this.isDone) this.#endEvent(deltas);
    } else if (this.#form === "document") this.#readDocument(rest, deltas);
    if (this.failure === null) this.#text.release(deltas);
    this.isDone = true;
    return deltas;
  }

  /** What was held back of a reply that has begun and goes no further. */
  release(): string[] {
    const deltas: string[] = [];
    if (this.hasContent) this.#text.release(deltas);
    return deltas;
  }

  /** Decides the form once there is a character to judge by; returns the bytes from there on. */
  #recognise(bytes: string): string {
    // A byte order mark would hide the name of the first field.
    const start = /[^\s\u00ef\u00bb\u00bf]/.exec(bytes);
    if (start === null) return "";
    const [character] = start;
    if (character === "<") this.#fail("the provider answered with a page of HTML");
    else this.#form = character === "{" || character === "[" ? "document" : "events";
    return this.isDone ? "" : bytes.slice(start.index);
  }

  #limitWordless(bytes: number): void {
    this.#wordlessBytes += bytes;
    const { maxWordlessBytes, maxThinkingBytes } = this.#limits;
    const isWorking = this.reasoningBytes + (this.reader.asked?.bytes ?? 0) > 0;
    const limit = isWorking ? maxThinkingBytes : maxWordlessBytes;
    if (this.#wordlessBytes > limit) this.#fail("too much without a word");
  }

  #readEvents(bytes: string, deltas: string[]): void {
    const hasLineEnd = bytes.includes("\n");
    if (this.#isSkipping && !hasLineEnd) return;
    const input = this.#isSkipping ? bytes.slice(bytes.indexOf("\n") + 1) : this.#pending + bytes;
    this.#isSkipping = false;
    const wasLong = !hasLineEnd && this.#pending.length > this.#limits.longLineBytes;
    // Neither search an incomplete line again with every read, nor put it together to judge it again.
    if (hasLineEnd) this.#readLines(input, deltas);
    else this.#pending = input;
    if (!wasLong && this.#pending.length > this.#limits.longLineBytes && this.#skips(this.#pending)) {
      this.#pending = "";
      this.#isSkipping = true;
    }
  }

  #readLines(input: string, deltas: string[]): void {
    let start = 0;
    for (let feed = input.indexOf("\n"); feed !== -1; feed = input.indexOf("\n", start)) {
      const end = feed > start && input.charCodeAt(feed - 1) === 13 ? feed - 1 : feed;
      if (end > start) this.#readLine(input.substring(start, end), deltas);
      else this.#endEvent(deltas);
      if (this.isDone) return;
      this.#wordlessBytes += this.#limits.leastBytes;
      start = feed + 1;
    }
    this.#pending = input.substring(start);
  }

  #skips(line: string): boolean {
    if (this.#eventLines.length > 0 || !line.startsWith("data:")) return false;
    return this.reader.skips?.(this.#eventName, line.slice(5, 261)) ?? false;
  }

  #readLine(line: string, deltas: string[]): void {
    if (line.startsWith("event:")) this.#eventName = line.slice(6).trim();
    // Comments, ids, retry times and unknown fields carry nothing of the reply.
    if (!line.startsWith("data:")) return;
    if (line.length > this.#limits.longLineBytes && this.#skips(line)) return;
    const dataStart = line.charCodeAt(5) === 32 ? 6 : 5;
    const data = line.substring(dataStart);
    if (data.startsWith("[DONE]") && data.trim() === "[DONE]") {
      this.#endEvent(deltas);
      if (this.isDone || this.reader.ignoresDoneMark) return;
      this.#text.release(deltas);
      this.isDone = true;
      this.hasDoneMark = true;
      return;
    }
    const isFirst = this.#eventLines.length === 0;
    if (isFirst && data.trim() === "") return;
    // If a first line is not JSON on its own, the whole event is parsed at its end, and only there.
    const value = isFirst ? parseJson(data) : undefined;
    if (value === undefined) this.#addEventLine(data);
    else this.#takeChunk(value, deltas);
  }

  #addEventLine(data: string): void {
    this.#eventLines.push(data);
    this.#eventBytes += data.length + 1;
    const isTooLong = this.#eventLines.length > this.#limits.maxEventLines || this.#eventBytes > this.#maxLineBytes;
    if (isTooLong) this.#fail("an event is too long");
  }

  #endEvent(deltas: string[]): void {
    if (this.#eventLines.length > 0) {
      const value = parseJson(this.#eventLines.join("\n"));
      this.#eventLines = [];
      this.#eventBytes = 0;
      if (value === undefined) this.#fail("an event is not JSON");
      else this.#takeChunk(value, deltas);
    }
    this.#eventName = "";
  }

  #readDocument(bytes: string, deltas: string[]): void {
    const value = parseJson(bytes);
    if (value === undefined) this.#fail("the provider answered with neither a stream nor JSON");
    // Google's compatible endpoint wraps its errors in an array.
    else this.#takeChunk(Array.isArray(value) ? value[0] : value, deltas);
  }

  #takeChunk(value: unknown, deltas: string[]): void {
    const reading = this.reader.read(value, this.#eventName);
    const excess = this.reader.asked?.excess ?? null;
    if (reading === null || excess !== null) {
      this.#fail(excess ?? "an event is no JSON object");
      return;
    }
    if (reading.usage !== null) this.usage = reading.usage;
    if (reading.reasoningBytes > 0) this.#reasoningBytes += reading.reasoningBytes;
    if (reading.error !== null || this.#eventName === "error") {
      const { message, status, kind } = reading.error ?? { message: JSON.stringify(value), status: null };
      this.#fail(`the provider reported an error in its stream: ${message}`, reported(status, kind));
      return;
    }
    if (reading.text !== "") this.#push(reading.text, deltas);
    if (this.isDone || (reading.finishReason === null && !reading.isLast)) return;
    this.#text.release(deltas);
    if (reading.finishReason !== null) this.finishReason = reading.finishReason;
    if (reading.isLast) this.isDone = true;
  }

  #push(text: string, deltas: string[]): void {
    if (this.#text.units + text.length > this.#limits.maxTextUnits) this.#fail("the reply is too long");
    if (this.isDone) return;
    this.#text.push(text, deltas);
    if (!this.#text.isStopped) return;
    this.finishReason = "stop";
    this.isDone = true;
  }

  #fail(reason: string, options: ProviderFailureOptions = {}): void {
    this.failure ??= new ProviderFailure(reason, options);
    this.isDone = true;
    this.#pending = "";
  }
}

const beyondAscii = /[\u0080-\u00ff]/;
/** Parses bytes 0 to 255 as UTF-8 JSON; undefined if it is not JSON. */
function parseJson(bytes: string): unknown {
  try {
    // Decoding takes longer than parsing.
    return JSON.parse(beyondAscii.test(bytes) ? Buffer.from(bytes, "latin1").toString("utf8") : bytes);
  } catch {
    return undefined;
  }
}
