/** One request and its response on a connection: after the head, the body goes to one reader, who may pause it. */
import type { ResponseHead } from "./response-reader.ts";

export interface BodyReader {
  /** Never empty. Bytes are characters 0 to 255. */
  data(part: string): void;
  /** The body is complete. */
  end(): void;
  /** The connection broke before the end of the body. */
  fail(error: Error): void;
}

export interface HttpBody {
  /** Starts the delivery; call it once. What has arrived before is delivered immediately, including `end` and `fail`. */
  read(reader: BodyReader): void;
  /** Reads nothing more from the socket until `resume`, nor reports the end; of what was read, the rest is delivered. */
  pause(): void;
  resume(): void;
  /** Closes the connection immediately; the reader gets nothing more. Harmless after the end. */
  cancel(): void;
}

export interface HttpResponse extends ResponseHead {
  body: HttpBody;
}

/** What an exchange needs of its connection. */
export interface Wire {
  pause(): void;
  resume(): void;
  terminate(): void;
}

/** The peer closed a kept connection without a byte of response: nothing was wrong with the request. */
export class StaleConnectionError extends Error {}

/** Waits for the head. */
export interface HeadReader {
  resolve(response: HttpResponse): void;
  reject(error: Error): void;
}

export class Exchange implements HttpBody {
  /** Null once the response has ended, however it ended. */
  #wire: Wire | null;
  #headReader: HeadReader | null;
  #reader: BodyReader | null = null;
  #isPaused = false;
  /** What arrived while no one was reading. */
  #held: string[] | null = null;
  /** How the body ended; undefined before that. */
  #ending: Error | null | undefined;

  constructor(wire: Wire, headReader: HeadReader) {
    this.#wire = wire;
    this.#headReader = headReader;
  }

  takeHead({ status, headers }: ResponseHead): void {
    this.#headReader?.resolve({ status, headers, body: this });
    this.#headReader = null;
  }

  takeBody(part: string): void {
    if (this.#reader !== null) this.#reader.data(part);
    else if (this.#held === null) this.#held = [part];
    else this.#held.push(part);
  }

  /** The response ended: complete (null) or broken. */
  finish(error: Error | null): void {
    this.#wire = null;
    this.#ending = error;
    if (error) this.#headReader?.reject(error);
    this.#headReader = null;
    this.#deliver();
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    this.#deliver();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#wire?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#deliver();
    if (!this.#isPaused) this.#wire?.resume();
  }

  cancel(): void {
    const wire = this.#wire;
    this.#wire = null;
    this.#reader = null;
    this.#held = null;
    this.#ending = undefined;
    wire?.terminate();
  }

  #deliver(): void {
    if (this.#reader !== null && this.#held !== null) {
      const held = this.#held;
      this.#held = null;
      for (const part of held) this.#reader?.data(part);
    }
    // The reader may have paused or cancelled while it took the bytes.
    if (this.#ending === undefined || this.#reader === null || this.#isPaused) return;
    const reader = this.#reader;
    this.#reader = null;
    if (this.#ending === null) reader.end();
    else reader.fail(this.#ending);
  }
}
