/**
 * A wall clock that tests step while the executable runs, using Debian's libfaketime; timers and the monotonic clock
 * are not affected.
 *
 *     using clock = createSteppedClock();
 *     await using server = await startExecutable({ env: clock.env });
 *     clock.step(-365 * dayMs);
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Glob } from "bun";
import { temporaryDirectory } from "./temporary.ts";

/** In a directory named after the machine's architecture. */
const [library] = new Glob("*/faketime/libfaketime.so.1").scanSync({ cwd: "/usr/lib", absolute: true });

export interface SteppedClock extends Disposable {
  /** For the processes that should use this clock. */
  readonly env: Record<string, string>;
  nowMs(): number;
  step(durationMs: number): void;
  set(epochMs: number): void;
}

export function createSteppedClock(startMs: number): SteppedClock {
  if (library === undefined) throw new Error("There is no libfaketime: apt-get install faketime");
  const dir = temporaryDirectory();
  const file = dir.file("offset");
  let offsetMs = 0;

  function moveTo(newOffsetMs: number): void {
    offsetMs = newOffsetMs;
    // Renamed into place: the library reads the file whenever the clock is read.
    writeFileSync(`${file}.new`, `${offsetMs < 0 ? "-" : "+"}${(Math.abs(offsetMs) / 1000).toFixed(3)}\n`);
    renameSync(`${file}.new`, file);
  }

  const clock: SteppedClock = {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
      TZ: "UTC",
    },
    nowMs: () => Date.now() + offsetMs,
    step: (durationMs) => moveTo(offsetMs + durationMs),
    set: (epochMs) => moveTo(epochMs - Date.now()),
    [Symbol.dispose]() {
      dir[Symbol.dispose]();
      removeLeftSegments();
    },
  };
  clock.set(startMs);
  return clock;
}

/** The library shares memory under the process's id, and leaves it there for the next process that has the same. */
function removeLeftSegments(): void {
  for (const name of readdirSync("/dev/shm")) {
    const [, pid] = /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(`/dev/shm/${name}`, { force: true });
  }
}
