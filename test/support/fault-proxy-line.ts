/** The connections of a fault proxy: two sockets each, and two directions in which pieces wait for their turn. */
import { connect, type Socket } from "node:net";

/**
 * `pass`: as without a proxy. `refuse`: new connections are refused, open ones go on. `swallow`: connections are accepted
 * and read, and nothing is forwarded; a connection that lost something this way is cut when the state ends. `hold`: what is
 * sent waits, and arrives when the state ends, even if its sender has ended. `delayMs`: each piece comes that much later.
 * `holdAfter`: what the far side of a connection sends waits from the piece of the near side on that contains this.
 * `lossyChannel`: every third notification of PostgreSQL's on this channel is lost.
 */
export type LineState =
  | "pass"
  | "refuse"
  | "swallow"
  | "hold"
  | { delayMs: number }
  | { holdAfter: string }
  | { lossyChannel: string };

/** More than this waits in the sender's socket instead of here. */
const queueBytes = 256 * 1024;

export class Line {
  state: LineState = "pass";
  swallowedBytes = 0;
  /** Notifications that were lost. */
  lostNotices = 0;
  #notices = 0;
  readonly #connections = new Set<Connection>();

  get size(): number {
    return this.#connections.size;
  }

  accept(near: Socket, targetPort: number): void {
    const connection = new Connection(this, near, targetPort, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    connection.onState();
  }

  set(state: LineState): void {
    this.state = state;
    for (const connection of [...this.#connections]) connection.onState();
  }

  /** What is left of a piece that the far side sent. */
  filter(piece: Buffer): Buffer {
    const { state } = this;
    if (typeof state !== "object" || !("lossyChannel" in state)) return piece;
    return dropNotices(piece, state.lossyChannel, () => {
      const isLost = ++this.#notices % 3 === 0;
      if (isLost) this.lostNotices++;
      return isLost;
    });
  }

  cut(): void {
    for (const connection of [...this.#connections]) connection.reset();
  }

  giveUp(): void {
    for (const connection of this.#connections) connection.giveUp();
  }
}

class Connection {
  readonly #line: Line;
  readonly #near: Socket;
  readonly #targetPort: number;
  readonly #onGone: () => void;
  #far: Socket | null = null;
  #directions: readonly Direction[] = [];
  #hasLost = false;

  constructor(line: Line, near: Socket, targetPort: number, onGone: () => void) {
    this.#line = line;
    this.#near = near;
    this.#targetPort = targetPort;
    this.#onGone = onGone;
    near.on("error", () => this.#onBroken());
    near.pause();
  }

  onState(): void {
    const { state } = this.#line;
    if (state !== "swallow" && this.#hasLost) this.reset();
    else if (state === "swallow" && this.#far === null) this.#swallowAll();
    else if (state !== "hold" && this.#far === null) this.#open();
    for (const direction of this.#directions) direction.pump();
  }

  reset(): void {
    this.#near.resetAndDestroy();
    this.#far?.resetAndDestroy();
    this.#onGone();
  }

  giveUp(): void {
    this.#hasLost = true;
    this.#far?.resetAndDestroy();
  }

  #open(): void {
    const far = connect({ host: "127.0.0.1", port: this.#targetPort, allowHalfOpen: true, noDelay: true });
    this.#far = far;
    far.on("error", () => this.#onBroken());
    const onLoss = (bytes: number) => {
      this.#hasLost = true;
      this.#line.swallowedBytes += bytes;
    };
    const line = this.#line;
    let heldAfter: LineState | null = null;
    const isHeld = () => line.state === "hold";
    const forth = new Direction(line, this.#near, far, { isHeld, onLoss }, (bytes) => {
      const { state } = line;
      if (typeof state === "object" && "holdAfter" in state && bytes.includes(state.holdAfter)) heldAfter = state;
    });
    const isAnswerHeld = () => isHeld() || line.state === heldAfter;
    const back = new Direction(line, far, this.#near, { isHeld: isAnswerHeld, onLoss }, undefined, (piece) =>
      line.filter(piece),
    );
    this.#directions = [forth, back];
    for (const socket of [this.#near, far]) {
      socket.on("close", () => {
        if (this.#near.destroyed && far.destroyed) this.#onGone();
      });
    }
  }

  /** Clients never learn that no one is there. */
  #swallowAll(): void {
    if (this.#hasLost) return;
    this.#hasLost = true;
    this.#near.on("data", (bytes) => {
      this.#line.swallowedBytes += bytes.length;
    });
    this.#near.on("close", this.#onGone);
    this.#near.resume();
  }

  /** What becomes of one end is not known at the other while nothing gets through. */
  #onBroken(): void {
    const { state } = this.#line;
    if (state === "swallow" || state === "hold") this.#hasLost = true;
    else this.reset();
  }
}

interface Piece {
  /** Null: the end. */
  bytes: Buffer | null;
  dueMs: number;
}

class Direction {
  readonly #line: Line;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #isHeld: () => boolean;
  readonly #queue: Piece[] = [];
  #queuedBytes = 0;
  #isBlocked = false;
  #timer: Timer | null = null;

  constructor(
    line: Line,
    from: Socket,
    to: Socket,
    { isHeld, onLoss }: { isHeld: () => boolean; onLoss: (bytes: number) => void },
    onBytes: (bytes: Buffer) => void = () => {},
    filter = (bytes: Buffer) => bytes,
  ) {
    this.#line = line;
    this.#from = from;
    this.#to = to;
    this.#isHeld = isHeld;
    from.on("data", (bytes: Buffer) => {
      onBytes(bytes);
      if (line.state === "swallow") onLoss(bytes.length);
      else this.#take(filter(bytes));
    });
    from.on("end", () => (line.state === "swallow" ? onLoss(0) : this.#take(null)));
    to.on("drain", () => {
      this.#isBlocked = false;
      this.pump();
    });
  }

  #take(bytes: Buffer | null): void {
    const { state } = this.#line;
    const delayMs = typeof state === "object" && "delayMs" in state ? state.delayMs : 0;
    this.#queue.push({ bytes, dueMs: performance.now() + delayMs });
    this.#queuedBytes += bytes?.length ?? 0;
    this.pump();
  }

  /** Forwards what is due; reads on or not. */
  pump(): void {
    const isHeld = this.#isHeld();
    if (!isHeld) this.#forward();
    if (isHeld || this.#queuedBytes > queueBytes) this.#from.pause();
    else this.#from.resume();
  }

  #forward(): void {
    let piece = this.#queue[0];
    while (piece !== undefined && !this.#isBlocked) {
      const waitMs = piece.dueMs - performance.now();
      if (waitMs > 0) {
        this.#wait(waitMs);
        return;
      }
      this.#queue.shift();
      this.#queuedBytes -= piece.bytes?.length ?? 0;
      if (piece.bytes === null) this.#to.end();
      else this.#isBlocked = !this.#to.write(piece.bytes);
      piece = this.#queue[0];
    }
  }

  #wait(forMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.pump();
    }, forMs);
  }
}

/** PostgreSQL's protocol: `A`, the length of what follows, a process, then the channel's name, ended by a zero byte. */
function dropNotices(piece: Buffer, channel: string, isLost: () => boolean): Buffer {
  const kept: Buffer[] = [];
  let at = 0;
  while (piece.length >= at + 5 && piece[at] === 65) {
    const end = at + 1 + piece.readInt32BE(at + 1);
    if (end <= at || end > piece.length) break;
    const isOfChannel = piece.toString("latin1", at + 9, at + 10 + channel.length) === `${channel}\0`;
    if (!isOfChannel || !isLost()) kept.push(piece.subarray(at, end));
    at = end;
  }
  return at === 0 ? piece : Buffer.concat([...kept, piece.subarray(at)]);
}
