/** Holds the HTTPS port while there is no certificate: others cannot bind it, and every handshake is refused. */
import type { Socket } from "bun";

export interface HeldPort {
  readonly port: number;
  /** Releases the port, and closes what is connected to it. */
  release(): void;
}

/** For clients that connect and send nothing. */
const silenceSeconds = 5;
/** A fatal alert, `internal_error` (RFC 8446, 6.2): clients fail immediately, and do not take it for a lost connection. */
const refusal = new Uint8Array([21, 3, 1, 0, 2, 2, 80]);

/** Throws what the system reports. */
export function holdPort(hostname: string, port: number): HeldPort {
  const listener = Bun.listen({
    hostname,
    port,
    socket: {
      open: (socket: Socket) => socket.timeout(silenceSeconds),
      // Not before the client has spoken: closing with something unread would take the alert away again.
      data: (socket: Socket) => void socket.end(refusal),
      timeout: (socket: Socket) => void socket.terminate(),
      error() {},
    },
  });
  return { port: listener.port, release: () => listener.stop(true) };
}
