/** SIGTERM and SIGINT, taken from the moment this file loads: it must be the first import of `main.ts`. */

export type StopSignal = "SIGTERM" | "SIGINT";

const received: StopSignal[] = [];
let listener: ((signal: StopSignal) => void) | null = null;

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    received.push(signal);
    listener?.(signal);
  });
}

/** Hands over signals, first those that came while the program was still loading. */
export function onStopSignal(take: (signal: StopSignal) => void): void {
  listener = take;
  for (const signal of received) take(signal);
}
