/** A stream of named events for those who listen: it has no end of its own, and a stalled listener reconnects later. */
import { EventStream } from "./sse.ts";

/** What a reader may leave untaken. */
const maxHeldUnits = 256 * 1024;

export class LiveStream extends EventStream {
  override readonly isReply = false;

  protected override frameText(frames: readonly string[]): string {
    return frames.join("");
  }

  protected override frameDone(): string {
    return "";
  }

  /** A returned promise means that nothing more is accepted until it resolves. */
  send(frames: string): Promise<void> | undefined {
    // What is held already, so that a single message is never too long, and would be again whenever the reader comes back.
    if (this.heldUnits <= maxHeldUnits) return this.take({ type: "text", deltas: [frames] });
    this.cancel();
    return undefined;
  }

  /** The reason is a comment; null for an end that needs none. */
  end(reason: string | null): void {
    if (reason !== null) this.comment(reason);
    this.take({ type: "end", outcome: "complete" });
  }

  /** Calls `act` once the stream has ended, however it did. Call it once the request has its response. */
  whenEnded(act: () => void): void {
    if (this.outcome !== null) {
      act();
      return;
    }
    const { onClosing } = this;
    this.onClosing = () => {
      onClosing?.();
      act();
    };
  }
}

export function frameEvent(type: string, data: unknown, id: string | number | null = null): string {
  return `${id === null ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Which form a client asks for: a stream, unless it accepts JSON and no stream. */
export function asksJson({ headers }: Request): boolean {
  const accept = headers.get("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("text/event-stream");
}
