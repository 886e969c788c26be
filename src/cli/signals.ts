/** Catches SIGTERM, SIGINT and SIGHUP as soon as this file loads: it must be the first import of `main.ts`. */

export type ProcessSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

const received: ProcessSignal[] = [];
let listener: ((signal: ProcessSignal) => void) | null = null;

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    received.push(signal);
    listener?.(signal);
  });
}

/** Passes on signals, starting with those that arrived while the program was loading. */
export function onSignal(take: (signal: ProcessSignal) => void): void {
  listener = take;
  for (const signal of received) take(signal);
}
