/** An event stream as its client reads it, one frame after the other. */
import { eventually } from "./eventually.ts";

export interface Frame {
  /** Without the colon and the space; null for an event. */
  readonly comment: string | null;
  readonly event: string | null;
  readonly id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they read.
  readonly data: any;
}

export interface OpenedEvents {
  readonly status: number;
  readonly headers: Headers;
  /** All frames so far, without pings. */
  readonly frames: readonly Frame[];
  readonly isOver: boolean;
  /** What was received so far. */
  readonly raw: string;
  /** Resolves once there are so many frames, pings not counted. */
  until(count: number): Promise<readonly Frame[]>;
  untilOver(): Promise<readonly Frame[]>;
  close(): void;
}

/** Of one that is whole, without the empty line behind it. */
export function toFrame(text: string): Frame {
  if (text.startsWith(": ")) return { comment: text.slice(2), event: null, id: null, data: null };
  const fields = Object.fromEntries(text.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
  const { event = null, id = null, data = "null" } = fields as Record<string, string | undefined>;
  return { comment: null, event, id, data: JSON.parse(data) };
}

export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<OpenedEvents> {
  const gone = new AbortController();
  const response = await fetch(url, { headers, signal: gone.signal });
  const frames: Frame[] = [];
  const opened = { ...{ status: response.status, headers: response.headers, frames }, isOver: false, raw: "" };

  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body ?? []) {
      const text = decoder.decode(bytes, { stream: true });
      opened.raw += text;
      const parts = (rest + text).split("\n\n");
      rest = parts.pop() ?? "";
      frames.push(...parts.map(toFrame).filter(({ comment }) => comment !== "ping"));
    }
  }

  void read()
    .catch(() => {})
    .finally(() => {
      opened.isOver = true;
    });
  return Object.assign(opened, {
    async until(count: number) {
      await eventually(() => frames.length >= count || opened.isOver, { what: `${count} frames` });
      return frames;
    },
    async untilOver() {
      await eventually(() => opened.isOver, { what: "the end of the stream" });
      return frames;
    },
    close: () => gone.abort(),
  });
}
