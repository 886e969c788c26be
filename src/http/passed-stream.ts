/** Streams to a visitor what another instance streams to this one: its events as they are, the rest by this server's rules. */
import type { FollowedTurn, TurnEnd, TurnReader } from "../core/turns/events.ts";
import { type StreamErrorCode, streamErrorCodes } from "../domain/stream-end.ts";
import { EventStream } from "./sse.ts";

/** A stream whose texts are events already. */
export class PassedStream extends EventStream {
  protected override frameText(events: readonly string[]): string {
    return events.join("");
  }

  /** The terminator is the last of the other's events. */
  protected override frameDone(): string {
    return "";
  }
}

const frameEnd = "\n\n";
const ping = ": ping";
/** Far more than an event ever has. */
const maxFrameUnits = 8 * 1024 * 1024;

/** The part of a stream's reader that is used here: the types of Bun and of the web do not agree on the whole. */
interface Source {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** A reply that runs at another instance, for one reader, who sets the pace. */
export class PassedReply implements FollowedTurn {
  readonly #source: Source;
  readonly #decoder = new TextDecoder();
  #reader: TurnReader | null = null;
  /** The start of an event that has not arrived whole. */
  #rest = "";

  constructor(body: ReadableStream<Uint8Array>) {
    this.#source = body.getReader();
  }

  attach(reader: TurnReader): void {
    this.#reader = reader;
  }

  leave(): void {
    this.#reader = null;
    void this.#source.cancel().catch(() => {});
  }

  /** Reads to the end. Call it once, when the reader can pass things on. */
  async start(): Promise<void> {
    const end = await this.#relay().catch(() => null);
    // Without an end mark, the other instance is gone.
    this.#reader?.take(end ?? { type: "end", outcome: "broken", code: "unavailable" });
    this.leave();
  }

  async #relay(): Promise<TurnEnd | null> {
    for (;;) {
      const { done, value } = await this.#source.read();
      if (done || this.#rest.length > maxFrameUnits) return null;
      this.#rest += this.#decoder.decode(value, { stream: true });
      const last = this.#rest.lastIndexOf(frameEnd);
      if (last === -1) continue;
      const frames = this.#rest.slice(0, last).split(frameEnd);
      this.#rest = this.#rest.slice(last + frameEnd.length);
      const end = await this.#pass(frames);
      if (end !== null) return end;
    }
  }

  async #pass(frames: readonly string[]): Promise<TurnEnd | null> {
    const events: string[] = [];
    let end: TurnEnd | null = null;
    if (frames.includes(ping)) this.#reader?.take({ type: "waiting" });
    for (const frame of frames) {
      end ??= readEnd(frame);
      if (!frame.startsWith(":")) events.push(frame + frameEnd);
    }
    if (events.length > 0) await this.#reader?.take({ type: "text", deltas: events });
    return end;
  }
}

function readEnd(frame: string): TurnEnd | null {
  if (frame.endsWith("data: [DONE]")) return { type: "end", outcome: "complete" };
  if (!frame.startsWith(": error ")) return null;
  const code = streamErrorCodes.find((one): one is StreamErrorCode => frame === `: error ${one}`);
  return { type: "end", outcome: "broken", code: code ?? "unavailable" };
}
