/** The load of `--stress`: what other work on the machine does to the tests. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Four loops that take all of the processor they get, and one that writes 4 MiB over and over, each time to the disk.
 * Their parent reads from the gate: its end is theirs, even if the gate was killed. The writer ends by itself once its
 * directory is gone.
 */
const guardian = `
trap '' INT TERM HUP
for loop in 1 2 3 4; do (while :; do :; done) & pids="$pids $!"; done
(while dd if=/dev/zero of="$DIRECTORY/written" bs=64k count=64 conv=fsync; do :; done) 2>/dev/null &
read -r end
kill -KILL $pids
until rm -rf "$DIRECTORY"; do :; done
wait
`;

export function startLoad(): AsyncDisposable {
  const directory = mkdtempSync(join(tmpdir(), "companiond-load-"));
  const child = Bun.spawn(["/bin/sh", "-c", guardian], {
    env: { PATH: "/usr/bin:/bin", DIRECTORY: directory },
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  return {
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}
