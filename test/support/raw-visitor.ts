/**
 * Visitors over plain sockets: hundreds at the same time, which `fetch` cannot do, and readers that stall, trickle or
 * disconnect.
 */
import { connect, type Socket } from "node:net";
import { inTime } from "./eventually.ts";

export interface RawVisitor {
  /** Everything received so far, one character per byte. */
  readonly received: string;
  readonly isClosed: boolean;
  /** Resolves once the received text meets the condition; rejects if the connection closes before that. */
  until(condition: (received: string) => boolean, withinMs?: number): Promise<string>;
  /** Resolves with everything received when the connection is closed. */
  closed: Promise<string>;
  write(text: string): void;
  /** Stops reading, so that the sender's buffers fill up. */
  pause(): void;
  resume(): void;
  /** Closes the sending side, and still reads. */
  end(): void;
  /** Disconnects with a reset, as a closed tab does. */
  vanish(): void;
}

export function connectRaw(url: string): Promise<RawVisitor> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(watch(socket));
    });
  });
}

function watch(socket: Socket): RawVisitor {
  let received = "";
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of [...waiting]) look();
  };
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
    wake();
  });
  // A reset also counts as closing.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      isClosed = true;
      resolve(received);
      wake();
    });
  });
  return {
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    closed,
    until(condition, withinMs) {
      const fulfilled = new Promise<string>((resolve, reject) => {
        const look = () => {
          if (condition(received)) resolve(received);
          else if (isClosed) reject(new Error(`closed after: ${received.slice(-300)}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      });
      return inTime(fulfilled, { what: `${condition} in what came`, withinMs });
    },
    write: (text) => void socket.write(text, "latin1"),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    end: () => void socket.end(),
    vanish: () => void socket.resetAndDestroy(),
  };
}

/** A chat request as bytes. */
export function chatRequest(token: string, body: unknown): string {
  const json = Buffer.from(JSON.stringify(body)).toString("latin1");
  return (
    `POST /api/embed/${token}/chat HTTP/1.1\r\nHost: companion.test\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${json.length}\r\n\r\n${json}`
  );
}

/** Opens a chat and sends the message; the caller waits for the response. */
export async function startRawChat(url: string, token: string, message: string): Promise<RawVisitor> {
  const visitor = await connectRaw(url);
  visitor.write(chatRequest(token, { message }));
  return visitor;
}
