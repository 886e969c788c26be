/**
 * Memory for the replies under way, which are held until they are kept: whether their readers take them cannot be seen
 * before the sockets in between are full. A little for each, and for the long ones a bounded store together.
 */

/** For each reply, whatever the others do: its text so far, and what of it the reader's socket has not taken. */
export const ownBytes = 64 * 1024;

/** For all replies together, beyond that. One for which nothing is left is ended. */
export const sharedBytes = 32 * 1024 * 1024;

/** Taken by so much at a time. */
const stepBytes = 64 * 1024;

export class ReplyMemory {
  takenBytes = 0;

  /** What to add to the `shareBytes` that a reply has taken already, so that it may hold `heldBytes`; null: no room. */
  take(shareBytes: number, heldBytes: number): number | null {
    const missing = heldBytes - ownBytes - shareBytes;
    if (missing <= 0) return 0;
    const bytes = Math.ceil(missing / stepBytes) * stepBytes;
    if (this.takenBytes + bytes > sharedBytes) return null;
    this.takenBytes += bytes;
    return bytes;
  }

  giveBack(shareBytes: number): void {
    this.takenBytes -= shareBytes;
  }
}

/** The process's own. */
export const replyMemory = new ReplyMemory();
