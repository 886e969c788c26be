/** The body of another instance's response as a stream that is read no faster than its reader takes it. */
import type { BodyReader, HttpBody } from "../../lib/http/exchange.ts";
import type { PieceReader } from "./proven-pieces.ts";

/**
 * Errors if nothing arrives for `silenceMs` although it is read: heartbeats would, so the other machine is gone. Delivers
 * what is proven, and errors where something is not.
 */
export function streamBody(body: HttpBody, pieces: PieceReader, silenceMs: number): ReadableStream<Uint8Array> {
  return new ReadableStream(new BodySource(body, pieces, silenceMs));
}

class BodySource implements BodyReader {
  readonly #body: HttpBody;
  readonly #pieces: PieceReader;
  readonly #silenceMs: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Runs while bytes may arrive. */
  #silence: ReturnType<typeof setTimeout> | undefined;

  constructor(body: HttpBody, pieces: PieceReader, silenceMs: number) {
    this.#body = body;
    this.#pieces = pieces;
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

  data(part: string): void {
    let proven: Buffer | null;
    try {
      proven = this.#pieces.take(part);
    } catch (error) {
      this.#body.cancel();
      this.fail(error as Error);
      return;
    }
    // The start of a piece is no sign of life.
    if (proven === null) return;
    this.#controller?.enqueue(proven);
    clearTimeout(this.#silence);
    if ((this.#controller?.desiredSize ?? 0) > 0) this.#listen();
    else this.#body.pause();
  }

  end(): void {
    if (this.#pieces.isBetweenPieces) this.#end()?.close();
    else this.fail(new Error("the other instance's answer ends in a piece"));
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
