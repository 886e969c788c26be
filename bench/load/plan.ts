/** What a benchmark asks of the provider, carried inside the visitor's message so that every server hands it on. */

export interface StreamPlan {
  /** Text chunks of the reply. */
  chunks: number;
  /** Chunks in one write of the provider. */
  perWrite: number;
  /** Milliseconds between two writes; 0: as fast as the socket takes them. */
  gapMs: number;
  /** Each write waits until the visitor has read the one before: no two are read at once, however slow the server. */
  isLockStep: boolean;
}

/** So many visitors, and what each asks for. */
export interface Load {
  plan: StreamPlan;
  visitors: number;
  requests: number;
  rampMs: number;
  /** Milliseconds between the end of a reply and the visitor's next message; left out: none. */
  thinkMs?: number;
  leaveWithinMs?: number;
  isLeavingTogether?: boolean;
}

/** Digits of a reply's number, which each request puts in the place of zeros. */
const idDigits = 9;
const noId = "0".repeat(idDigits);

export function planMessage(plan: StreamPlan): string {
  return `bench id=${noId} chunks=${plan.chunks} perWrite=${plan.perWrite} gapMs=${plan.gapMs} lockStep=${Number(plan.isLockStep)};`;
}

/** The request with the number under which its visitor will ask for more. */
export function withId(request: string, id: number): string {
  return request.replace(`id=${noId}`, `id=${String(id).padStart(idDigits, "0")}`);
}

/** The last plan in a request's body: earlier turns of a conversation may hold others. */
export function findPlan(body: string): StreamPlan & { id: number } {
  const matches = [...body.matchAll(/bench id=(\d+) chunks=(\d+) perWrite=(\d+) gapMs=(\d+) lockStep=(\d);/g)];
  const last = matches.at(-1);
  if (!last) return { id: 0, chunks: 1, perWrite: 1, gapMs: 0, isLockStep: false };
  const [id = 0, chunks = 1, perWrite = 1, gapMs = 0, lockStep = 0] = last.slice(1).map(Number);
  return { id, chunks, perWrite, gapMs, isLockStep: lockStep === 1 };
}

/** First line of a visitors' connection to the provider; the numbers of replies follow, one a line, each asking for one more write. */
export const askingLine = "MORE";

/** Microseconds of a clock that all processes of this machine share. */
export function sharedMicros(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}
