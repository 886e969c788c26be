/** An event stream of the API, followed over cuts: it comes back with the last id that it has received. */
import { send } from "./api.ts";
import { interruption, resumptions } from "./session.ts";

export interface ServerEvent {
  type: string;
  data: unknown;
  /** Null for events without one. */
  id: string | null;
}

interface Follower {
  /** Null: from the beginning. */
  lastId: string | null;
  onEvent(event: ServerEvent): void;
  /** False: the connection is lost. Servers end streams now and then: such an end is reported only where no new one begins. */
  onOpen(isOpen: boolean): void;
}

/** The server sends a comment each 10 s: a connection that is silent for so long is dead, whatever the browser thinks. */
const silenceMs = 25_000;
const maxWaitMs = 30_000;

/** Returns a function that ends it. `EventSource` notices neither a dead connection nor why one was refused. */
export function followEvents(path: string, follower: Follower): () => void {
  const stopped = new AbortController();
  const { signal } = stopped;
  let { lastId } = follower;

  async function readOnce(): Promise<void> {
    const own = new AbortController();
    const abort = () => own.abort();
    signal.addEventListener("abort", abort);
    window.addEventListener("offline", abort);
    let silence = setTimeout(abort, silenceMs);
    try {
      const headers = lastId === null ? {} : { "last-event-id": lastId };
      const { body } = await send("GET", path, { signal: own.signal, accept: "text/event-stream", headers });
      follower.onOpen(true);
      const push = createEventReader((event) => {
        lastId = event.id ?? lastId;
        follower.onEvent(event);
      });
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        clearTimeout(silence);
        silence = setTimeout(abort, silenceMs);
        push(part.value);
      }
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", abort);
      window.removeEventListener("offline", abort);
    }
  }

  async function run(): Promise<void> {
    for (let waitMs = 1000; !signal.aborted; waitMs = Math.min(maxWaitMs, waitMs * 2)) {
      const beganMs = Date.now();
      // Someone else may be signed in by now.
      const isEnded =
        interruption.value === null &&
        (await readOnce().then(
          () => true,
          () => false,
        ));
      if (signal.aborted) return;
      if (!isEnded) follower.onOpen(false);
      if (Date.now() - beganMs > maxWaitMs) waitMs = 1000;
      await waitFor(waitMs * (0.5 + Math.random() / 2), signal);
    }
  }

  void run();
  return () => stopped.abort();
}

/** Shorter where the connection or the session is back. */
function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const forget = resumptions.onChange(end);
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      forget();
      window.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    }
    window.addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}

/** Takes text that may be cut anywhere. */
function createEventReader(onEvent: (event: ServerEvent) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line) => splitOnce(line)));
      const data = fields.get("data");
      const type = fields.get("event");
      if (data !== undefined && type !== undefined)
        onEvent({ type, data: JSON.parse(data), id: fields.get("id") ?? null });
    }
  };
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(":");
  return [line.slice(0, Math.max(at, 0)), line.slice(at + 1).trim()];
}
