/** The body of another instance's response as a stream that is read no faster than its reader takes it. */
import type { BodyReader, HttpBody } from "../lib/http/exchange.ts";

/**
 * Errors if nothing arrives for `silenceMs` although it is read: heartbeats would, so the other machine is gone. Bytes
 * are delivered as they came.
 */
export function streamBody(body: HttpBody, silenceMs: number): ReadableStream<Uint8Array> {
  return new ReadableStream(new BodySource(body, silenceMs));
}

class BodySource implements BodyReader {
  readonly #body: HttpBody;
  readonly #silenceMs: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Runs while bytes may arrive. */
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(body: HttpBody, silenceMs: number) {
    this.#body = body;
    this.#silenceMs = silenceMs;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#listen();
    this.#body.read(this);
  }

  pull(): void {
    if (this.#controller === null) return;
    this.#listen();
    this.#body.resume();
  }

  cancel(): void {
    this.#end();
    this.#body.cancel();
  }

  data(parts: readonly string[]): void {
    this.#controller?.enqueue(Buffer.from(parts.join(""), "latin1"));
    clearTimeout(this.#silence);
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#listen();
    else this.#body.pause();
  }

  end(): void {
    this.#end()?.close();
  }

  fail(error: Error): void {
    this.#end()?.error(error);
  }

  #listen(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#body.cancel();
      this.fail(new Error("the other instance has fallen silent"));
    }, this.#silenceMs);
  }

  #end(): ReadableStreamDefaultController<Uint8Array> | null {
    clearTimeout(this.#silence);
    const controller = this.#controller;
    this.#controller = null;
    return controller;
  }
}
