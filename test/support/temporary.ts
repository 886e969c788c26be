/** Directories that are deleted at the end of a scope: `using dir = temporaryDirectory()`. */
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryDirectory extends Disposable {
  readonly path: string;
  /** A path inside it. */
  file(name: string): string;
}

/** `parent`: by default where the system has such directories. */
export function temporaryDirectory(parent = tmpdir()): TemporaryDirectory {
  const path = mkdtempSync(join(parent, "companiond-test-"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

const memory = "/dev/shm";
/** Far more than the tests leave there at a time: what lies there uses the machine's memory. */
const roomInMemory = 4 * 1024 ** 3;

/** One for many files that no crash of the machine has to spare: in memory, if there is room. */
export function quickDirectory(): TemporaryDirectory {
  return temporaryDirectory(hasRoomInMemory() ? memory : tmpdir());
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > roomInMemory;
  } catch {
    return false;
  }
}
