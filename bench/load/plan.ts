/** What a benchmark asks of the provider, carried inside the visitor's message so that every server hands it on. */

export interface StreamPlan {
  /** Text chunks of the reply. */
  chunks: number;
  /** Chunks in one write of the provider. */
  perWrite: number;
  /** Milliseconds between two writes; 0: as fast as the socket takes them. */
  gapMs: number;
}

export function planMessage(plan: StreamPlan): string {
  return `bench chunks=${plan.chunks} perWrite=${plan.perWrite} gapMs=${plan.gapMs};`;
}

/** The last plan in a request's body: earlier turns of a conversation may hold others. */
export function findPlan(body: string): StreamPlan {
  const matches = [...body.matchAll(/bench chunks=(\d+) perWrite=(\d+) gapMs=(\d+);/g)];
  const last = matches.at(-1);
  if (!last) return { chunks: 1, perWrite: 1, gapMs: 0 };
  return { chunks: Number(last[1]), perWrite: Number(last[2]), gapMs: Number(last[3]) };
}

/** Microseconds of a clock that all processes of this machine share. */
export function sharedMicros(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}
